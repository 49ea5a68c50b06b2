"""Carry out a call: from packed arguments to a packed answer."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any, get_type_hints

import msgspec

from .wire import Answer

_warmed: set[str] = set()


def function_of(target: str) -> Callable[..., Any]:
    """Return the function that `module:function` names.

    A module that is met first may have a function `warm`: what it loads is there for each call.
    """
    path, _, name = target.partition(":")
    module = import_module(path)
    if path not in _warmed:
        _warmed.add(path)
        getattr(module, "warm", lambda: None)()
    function: Callable[..., Any] = getattr(module, name)
    return function


def carry_out(function: Callable[..., Any], args: msgspec.Raw) -> bytes:
    """Return the packed answer of a call, whatever becomes of it."""
    try:
        value = function(*_arguments(function, args))
        return msgspec.msgpack.encode(
            Answer("value", value=msgspec.Raw(msgspec.msgpack.encode(value)))
        )
    except MemoryError:
        return msgspec.msgpack.encode(Answer("failed", code="too_large", detail="memory"))
    except RecursionError:
        return msgspec.msgpack.encode(Answer("failed", code="broken", detail="recursion"))
    except Exception as error:
        kind = type(error)
        return msgspec.msgpack.encode(
            Answer(
                "raised",
                name=f"{kind.__module__}:{kind.__qualname__}",
                args=tuple(str(arg)[:1000] for arg in error.args),
                detail="".join(traceback.format_exception(error, limit=-5))[-4000:],
            )
        )


def _arguments(function: Callable[..., Any], packed: msgspec.Raw) -> list[Any]:
    """Return the arguments as the types that the function declares."""
    hints = get_type_hints(function)
    values = msgspec.msgpack.decode(packed)
    kinds = [hints.get(name, Any) for name in inspect.signature(function).parameters]
    return [msgspec.convert(value, type=kind) for value, kind in zip(values, kinds, strict=False)]
