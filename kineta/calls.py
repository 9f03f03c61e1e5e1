"""Checked calls of public functions: a sentence about the expected arguments in place of Python's own error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import Any, TypeVar

from kineta.errors import ArgumentError, KinetaError, suggestion
from kineta.vocabulary import meaning

T = TypeVar("T")

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_PLACED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def public(value: T, name: str = "") -> T:
    """*value* with checked arguments, which raise :class:`ArgumentError`: a function, or a class with its public methods.

    *name* is the public name of a function, if it differs from its own. A class is changed in place, a function is wrapped.
    A valid call costs one more call.
    """
    if isinstance(value, FunctionType):
        return _checked(value, name or value.__name__, 0)  # type: ignore[return-value]  # a function with its signature
    if isinstance(value, type):
        for own, method in list(vars(value).items()):
            if own == "__init__" or not own.startswith("_"):
                _check_method(value, own, getattr(value, own) if own == "__init__" else method)
    return value


def call_user_function(what: str, kind: type[KinetaError], function: Callable[..., T], *args: Any) -> T:
    """The result of a *function* of the user, called *what*; an exception in it becomes an error of *kind* at the user's
    line. An error of kineta is a sentence already, and passes unchanged.
    """
    try:
        return function(*args)
    except KinetaError:
        raise
    except Exception as error:
        told = kind(f"{what} raised {type(error).__name__}: {error}")
        raise told.with_traceback(error.__traceback__) from None


def _check_method(owner: type, name: str, method: Any) -> None:
    called = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
    if isinstance(method, classmethod | staticmethod):
        own = int(isinstance(method, classmethod))
        setattr(owner, name, type(method)(_checked(method.__func__, called, own)))
    elif isinstance(method, FunctionType):
        setattr(owner, name, _checked(method, called, 1))


def _checked(function: Callable[..., Any], name: str, own: int) -> Callable[..., Any]:
    """*function* with checked arguments, called *name* in errors; its first *own* arguments are not given by the caller."""
    if hasattr(function, "__wrapped__"):
        return function

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except TypeError as error:
            # An error raised further in is not about these arguments.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
        raise ArgumentError(_misfit(name, signature(function), own, args, named))

    return call


def _misfit(name: str, taken: Signature, own: int, args: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The sentence about arguments that do not fit the signature *taken*."""
    parameters = list(taken.parameters.values())[own:]
    given = len(args) - own
    places = [p.name for p in parameters if p.kind in _PLACED]
    names = [p.name for p in parameters if p.kind in _NAMED]
    open_ended = any(p.kind == Parameter.VAR_POSITIONAL for p in parameters)
    for word in named:
        if word in places[:given]:
            return f"{name} takes every argument once, found '{word}' by place and by name."
        if word not in names:
            free = [n for n in names if n not in places[:given] and n not in named]
            needed = [p.name for p in parameters if p.name in free and p.default is Parameter.empty]
            # Required arguments are suggested before optional ones.
            near = suggestion(word, needed) if meaning(word, needed) else suggestion(word, free)
            near = near or f" It takes {_listed(names)}."
            return f"{name} takes no argument '{word}'.{near}"
    if given > len(places) and not open_ended:
        more = [n for n in names if n not in places]
        rest = f"; {_listed(more)} {'are' if len(more) > 1 else 'is'} given by name" if more else ""
        return f"{name} takes {_count(places)}, found {given}{rest}."
    needed = [p.name for p in parameters if p.kind in (*_PLACED, *_NAMED) and p.default is Parameter.empty]
    missing = [n for n in needed if n not in (*places[:given], *named)]
    return f"{name} needs the argument{'s' * (len(needed) > 1)} {_listed(needed)}, found no {_listed(missing)}."


def _count(places: Sequence[str]) -> str:
    number = f"{len(places)} argument{'s' * (len(places) != 1)} by place"
    return f"{number} ({', '.join(places)})" if places else "no arguments by place"


def _listed(names: Sequence[str]) -> str:
    """The quoted *names* as an enumeration."""
    quoted = [f"'{n}'" for n in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted) or "none"
