"""Values computed when they are first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):
    """Like :func:`functools.cached_property`, which before Python 3.12 holds a lock meanwhile.

    That lock is one for all instances of a class. A fit that computes such a value on the shared
    threads would wait for them with the lock in its hands, and they for the lock, as soon as the
    value is asked for in another fit. Without a lock two threads may both compute a value, which
    is the same; both get the one that was stored first.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Self | Value:
        if instance is None:
            return self
        # The attribute of that name is found before this descriptor from now on.
        value: Value = vars(instance).setdefault(self._name, self._compute(instance))
        return value


class Kept(Generic[Value]):
    """Place of one value, made again when something else stands where it was made of.

    For values of an object whose attributes may be replaced, but must not gain new ones.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[Any, ...], Value] | None = None

    def made_of(self, parts: tuple[Any, ...], make: Callable[[], Value]) -> Value:
        """The value kept if it was made of these very `parts`, else the one made now."""
        kept = self._kept
        if kept is None or any(old is not new for old, new in zip(kept[0], parts, strict=True)):
            # Two threads may both make it, which is the same value.
            kept = self._kept = parts, make()
        return kept[1]
