"""What the text of a model may say: the grammar of skops, as far as models need it.

It is read before skops reads it, so that nothing is imported, made or called for a text that is not
one of a model. Every node stands where it is used: there are no references from one to another,
which could name each other in a circle, or one array a thousand times.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kernlens.persistence.errors import Damaged, Forbidden, Newer, Oversized
from kernlens.persistence.trusted import DATA, may_be_object

Node = dict[str, Any]

#: Nodes within each other. Those of a model in pipelines of pipelines are some twenty.
DEEPEST = 60
#: Characters of a name that a sentence shows.
LONGEST_NAME = 80
#: Version of the grammar of skops that is read; older ones have other, less strict rules.
PROTOCOL = 2

_NAMES = ("__class__", "__module__", "__loader__")
#: Fields of a node beside its names, by its loader.
_FIELDS = {
    "DictNode": {"content", "key_types"},
    "ListNode": {"content"},
    "TupleNode": {"content"},
    "SetNode": {"content"},
    "SliceNode": {"content"},
    "JsonNode": {"content", "is_json"},
    "NdArrayNode": {"type", "file", "content", "shape"},
    "TypeNode": set(),
    "ObjectNode": {"content"},
}
_FIELDS_OF_ROOT = {"protocol", "_skops_version"}


def parse(text: bytes) -> Node:
    """The root node of a schema."""
    try:
        schema = json.loads(text)
    except RecursionError:
        raise Oversized("its text is nested too deeply") from None
    except ValueError:
        raise Damaged("its text is not JSON") from None
    if not isinstance(schema, dict):
        raise Damaged("its text describes no model")
    return schema


def check(schema: Node) -> list[str]:
    """Refuse what is no model; return the names of its arrays in the order they come in.

    Parameters
    ----------
    schema : dict
        The root node.

    Raises
    ------
    Refusal
        With the first reason.
    """
    _check_protocol(schema)
    if schema.get("__loader__") != "ObjectNode":
        raise Forbidden(f"{_shown(_type_of(schema))} in the place of a model")
    if _type_of(schema.get("content")) not in DATA["DictNode"]:
        raise Damaged("its text has a model without attributes")
    files: list[str] = []
    waiting = [(schema, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise Oversized("its text is nested too deeply")
        check_type(node)
        allowed = _FIELDS[node["__loader__"]] | set(_NAMES)
        if node is schema:
            allowed |= _FIELDS_OF_ROOT
        if not allowed.issuperset(node):
            raise Damaged("its text has fields that kernlens does not write")
        if node["__loader__"] == "NdArrayNode" and node.get("type") == "numpy":
            files.append(_text(node, "file"))
        waiting += [(child, depth + 1) for child in reversed(list(_children(node)))]
    return files


def check_type(node: Any) -> None:
    """Refuse a node of a type, or with a loader, that is no part of a model."""
    name, loader = _type_of(node), node["__loader__"]
    allowed = may_be_object(name) if loader == "ObjectNode" else name in DATA.get(loader, ())
    if not allowed:
        raise Forbidden(_shown(name))


def nodes(schema: Any) -> Iterator[Node]:
    """Every node of a schema of skops, in the order of the text, of whatever type they are."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "__loader__" in part:
                yield part
            waiting += reversed(list(part.values()))
        elif isinstance(part, list):
            waiting += reversed(part)


def _check_protocol(schema: Node) -> None:
    protocol = schema.get("protocol")
    if type(protocol) is not int:
        raise Damaged("its text names no protocol of skops")
    if protocol > PROTOCOL:
        raise Newer(f"protocol {str(protocol)[:LONGEST_NAME]} of skops")
    if protocol < PROTOCOL:
        raise Damaged("its text names a protocol of skops that kernlens never wrote")


def _type_of(node: Any) -> str:
    if not isinstance(node, dict):
        raise Damaged("its text has something else in the place of a node")
    for field in _NAMES:
        _text(node, field)
    return f"{node['__module__']}.{node['__class__']}"


def _children(node: Node) -> Iterator[Any]:
    """Nodes inside a node, or a refusal of what is there instead."""
    loader, content = node["__loader__"], node.get("content")
    if loader == "DictNode":
        if not isinstance(content, dict):
            raise Damaged("its text has a dictionary without entries")
        _check_keys(node.get("key_types"), len(content))
        yield node["key_types"]
        yield from content.values()
    elif loader in ("ListNode", "TupleNode", "SetNode"):
        yield from _list(content)
    elif loader == "ObjectNode":
        if content is not None:
            yield content
    elif loader == "NdArrayNode":
        yield from _array(node)
    elif loader == "JsonNode":
        _check_plain(_text(node, "content"))
    elif loader == "SliceNode":
        _check_slice(content)


def _check_keys(kinds: Any, n_keys: int) -> None:
    """A list of as many types as there are keys; skops would leave out what has none."""
    if _type_of(kinds) != "builtins.list" or kinds["__loader__"] != "ListNode":
        raise Damaged("its text has a dictionary without types of its keys")
    found = _list(kinds.get("content"))
    if len(found) != n_keys or any(_type_of(k) and k["__loader__"] != "TypeNode" for k in found):
        raise Damaged("its text has a dictionary without types of its keys")


def _array(node: Node) -> Iterator[Any]:
    """Entries and shape of an array of objects; one of numbers is a file."""
    if node.get("type") == "json":
        yield from _list(node.get("content"))
        yield node.get("shape")
    elif node.get("type") != "numpy":
        raise Damaged("its text has an array of no known kind")


def _check_plain(text: str) -> None:
    """A number, a text, a truth value or nothing."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise Damaged("its text has a value that is not JSON") from None
    if isinstance(value, (dict, list)):
        raise Damaged("its text has a value that is more than a number or a text")


def _check_slice(content: Any) -> None:
    if not isinstance(content, dict) or set(content) != {"start", "stop", "step"}:
        raise Damaged("its text has a slice without ends")
    if not all(end is None or type(end) is int for end in content.values()):
        raise Damaged("its text has a slice without ends")


def _list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise Damaged("its text has a list without entries")
    return content


def _text(node: Node, field: str) -> str:
    value = node.get(field)
    if not isinstance(value, str):
        raise Damaged(f"its text has a node without {field.strip('_')}")
    return value


def _shown(name: str) -> str:
    """A name from a file, on one line and short."""
    plain = name if name.isprintable() else ascii(name)
    return plain if len(plain) <= LONGEST_NAME else f"{plain[:LONGEST_NAME]}..."
