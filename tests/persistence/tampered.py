"""Model files that somebody has changed, by accident or on purpose: many kinds, from a seed."""

from __future__ import annotations

import copy
import io
import json
import zipfile

import numpy as np

from kernlens.persistence.archive import FORMAT, MANIFEST, SCHEMA, digest, pack, unpack
from kernlens.persistence.schema import nodes

#: Types that run code, or make what a model has not, and the loaders that skops has for them.
PLANTED = [
    ("os", "system", "FunctionNode"),
    ("posix", "system", "FunctionNode"),
    ("subprocess", "Popen", "ObjectNode"),
    ("subprocess", "Popen", "TypeNode"),
    ("builtins", "eval", "FunctionNode"),
    ("builtins", "eval", "TypeNode"),
    ("builtins", "exec", "ObjectNode"),
    ("builtins", "map", "ListNode"),
    ("operator", "methodcaller", "OperatorFuncNode"),
    ("operator", "attrgetter", "OperatorFuncNode"),
    ("functools", "partial", "PartialNode"),
    ("functools", "partial", "ObjectNode"),
    ("numpy", "void", "NdArrayNode"),
    ("numpy", "memmap", "NdArrayNode"),
    ("numpy.random._generator", "Generator", "RandomGeneratorNode"),
    ("numpy", "log", "FunctionNode"),
    ("sklearn.tree._tree", "Tree", "TreeNode"),
    ("sklearn.utils", "all_estimators", "ObjectNode"),
    ("sklearn.linear_model._base", "LinearRegression", "MethodNode"),
    ("datetime", "timezone", "ConstructorFromReduceNode"),
    ("scipy.sparse._csr", "csr_matrix", "SparseMatrixNode"),
    ("builtins", "bytearray", "BytearrayNode"),
    ("this", "s", "ObjectNode"),
    ("antigravity", "webbrowser", "ObjectNode"),
    ("kernlens.persistence", "save", "ObjectNode"),
    ("kernlens", "implicit_kernel", "FunctionNode"),
    ("kernlens", "x" * 5000, "ObjectNode"),
    ("kern\nlens", "BKerNN\u2028Regressor", "ObjectNode"),
]
HUGE = [(10**15,), (10**9, 10**9), (2**62, 4), (-3, 4), (0, 10**12), (10**400,), (True, 4)]
DTYPES = ["<f8", "<i8", "|O", "<U0", "<U1000000000", "|V8", "<f2"]


def forged(members):
    """A file whose digest is right: somebody knew the format."""
    return pack(members)


def zipped(entries, **options):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", **options) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return whole.getvalue()


def manifest(members, **changes):
    about = {"format": FORMAT, "kernlens": "0", "sha256": digest(members), **changes}
    return json.dumps(about).encode()


def _text(schema):
    return json.dumps(schema).encode()


def flips(content, rng, n):
    for k in range(n):
        damaged = bytearray(content)
        for _ in range(1 if k % 3 else 20):
            damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        yield bytes(damaged)


def truncations(content, rng, n):
    for k in range(n):
        cut = int(rng.integers(len(content)))
        yield content[:cut] if k % 2 else content[cut:]


def renamed_types(content, rng, n):
    members = unpack(content)
    schema = json.loads(members[SCHEMA])
    n_nodes = sum(1 for _ in nodes(schema))
    for k in range(n):
        module, name, loader = PLANTED[k % len(PLANTED)]
        changed = copy.deepcopy(schema)
        node = list(nodes(changed))[rng.integers(n_nodes) if k >= len(PLANTED) else 0]
        node.update(__module__=module, __class__=name)
        if k % 2:
            node["__loader__"] = loader
            arguments = {
                "__class__": "list",
                "__module__": "builtins",
                "__loader__": "ListNode",
                "content": [],
            }
            node.update(attrs=arguments, func="fit", obj=arguments)
        yield forged({**members, SCHEMA: _text(changed)})


def broken_nodes(content, rng, n):
    members = unpack(content)
    schema = json.loads(members[SCHEMA])
    fields = ["__class__", "__module__", "__loader__", "key_types", "file", "type"]
    for k in range(n):
        changed = copy.deepcopy(schema)
        field = fields[k % len(fields)]
        holders = [node for node in nodes(changed) if field in node]
        node = holders[rng.integers(len(holders))]
        node[field] = [None, -1, [], {}, "", "x", 10**30, [node["__class__"]]][rng.integers(8)]
        if k % 4 == 0:
            del node[field]
        yield forged({**members, SCHEMA: _text(changed)})


def huge_shapes(content, rng, n):
    members = unpack(content)
    arrays = [name for name in members if name != SCHEMA]
    for k in range(n):
        shape, dtype = HUGE[k % len(HUGE)], DTYPES[(k // len(HUGE)) % len(DTYPES)]
        described = {"descr": dtype, "fortran_order": False, "shape": shape}
        header = io.BytesIO()
        np.lib.format.write_array_header_2_0(header, described)
        name = arrays[rng.integers(len(arrays))]
        yield forged({**members, name: header.getvalue() + bytes(80)})


def swapped_members(content, rng, n):
    members = unpack(content)
    arrays = [name for name in members if name != SCHEMA]
    for k in range(n):
        one, other = rng.choice(arrays, 2, replace=False)
        swapped = {**members, one: members[other], other: members[one]}
        if k % 2:
            yield forged(swapped)
        else:  # as they are, with the digest of before
            yield zipped([(MANIFEST, manifest(members)), *swapped.items()])


def deep_nesting(content, rng, n):
    members = unpack(content)
    schema = json.loads(members[SCHEMA])
    for k in range(n):
        depth = int(10 ** rng.uniform(2, 4.7))
        if k % 2:
            text = b'{"a":' * depth + b"1" + b"}" * depth
        else:
            node = '{"__class__":"list","__module__":"builtins","__loader__":"ListNode","content":['
            inner = (node * depth + "]}" * depth).encode()
            text = _text({**schema, "content": "HERE"}).replace(b'"HERE"', inner)
        yield forged({**members, SCHEMA: text})


def strange_names(content, rng, n):
    members = unpack(content)
    names = [
        "../../evil.npy",
        "/etc/passwd",
        "C:\\x.npy",
        "0.npy/",
        "a\x00b.npy",
        "00.npy",
        "x" * 60000,
    ]
    for k in range(n):
        name = names[k % len(names)]
        entries = list(members.items())
        place = int(rng.integers(len(entries)))
        if k % 3 == 0:
            entries.append((name, b"x"))
        elif k % 3 == 1:
            entries[place] = (name, entries[place][1])
        else:  # another text that only names the file
            schema = json.loads(members[SCHEMA])
            holders = [node for node in nodes(schema) if "file" in node]
            holders[rng.integers(len(holders))]["file"] = name
            yield forged({**members, SCHEMA: _text(schema)})
            continue
        yield zipped([(MANIFEST, manifest(dict(entries))), *entries])


def bombs(content, rng, n):
    members = unpack(content)
    zeros = bytes(2**24)
    for k in range(n):
        size = int(rng.integers(2**21, 2**24))
        schema = members[SCHEMA] + b" " * size
        kind = k % 4
        if kind == 0:  # a text of spaces
            changed = {**members, SCHEMA: schema}
            entries = [(MANIFEST, manifest(changed)), *changed.items()]
            yield zipped(entries, compression=zipfile.ZIP_DEFLATED)
        elif kind == 1:  # arrays of zeros, compressed
            changed = {**members, "0.npy": zeros[:size]}
            entries = [(MANIFEST, manifest(changed)), *changed.items()]
            yield zipped(entries, compression=zipfile.ZIP_BZIP2)
        elif kind == 2:  # a text that says it is short
            packed = zipped(
                [(MANIFEST, manifest(members)), (SCHEMA, schema)], compression=zipfile.ZIP_DEFLATED
            )
            real, said = (len(part).to_bytes(4, "little") for part in (schema, members[SCHEMA]))
            yield packed.replace(real, said)
        else:  # one array named by many nodes
            text = json.loads(members[SCHEMA])
            holder = next(node for node in nodes(text) if "file" in node)
            many = [dict(holder) for _ in range(10**4)]
            text["content"]["content"]["many"] = {
                **{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"},
                "content": many,
            }
            string = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
            text["content"]["key_types"]["content"].append(string)
            yield forged({**members, SCHEMA: _text(text)})


def references(content, rng, n):
    """Nodes that stand for another one, or for themselves: skops would follow them."""
    members = unpack(content)
    for k in range(n):
        schema = json.loads(members[SCHEMA])
        every = list(nodes(schema))
        for node in (schema, every[rng.integers(len(every))]):
            node["__id__"] = 7
        if k % 2:
            every[-1]["__loader__"] = "CachedNode"
        yield forged({**members, SCHEMA: _text(schema)})


def other_versions(content, rng, n):
    members = unpack(content)
    values = [2, 10**30, 0, -1, None, "1", True, [], 1.0, {}]
    for k in range(n):
        value = values[k % len(values)]
        if k // len(values) % 2:
            schema = {**json.loads(members[SCHEMA]), "protocol": [3, 1, 0, -1, None][k % 5]}
            yield forged({**members, SCHEMA: _text(schema)})
        else:
            yield zipped([(MANIFEST, manifest(members, format=value)), *members.items()])


#: Kinds, and how many of each for one model: 500.
KINDS = {
    flips: 170,
    truncations: 60,
    renamed_types: 80,
    broken_nodes: 50,
    huge_shapes: 49,
    swapped_members: 20,
    deep_nesting: 14,
    strange_names: 21,
    bombs: 8,
    references: 8,
    other_versions: 20,
}


def tampered_files(content, seed):
    """Names and contents, 500 from one file."""
    for kind, n in KINDS.items():
        for k, changed in enumerate(kind(content, np.random.default_rng([seed, n]), n)):
            yield f"{kind.__name__} {k}", changed
