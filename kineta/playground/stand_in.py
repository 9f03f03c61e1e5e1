"""Plain arrays in the place of the packages ``numpy`` and ``scipy``, where there are none."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType
from typing import Any, NoReturn

from kineta.errors import NumericalError
from kineta.playground import plain_arrays, plain_functions, plain_linear_algebra, plain_shapes
from kineta.playground.plain_random_numbers import RandomNumbers


def install() -> None:
    """Let ``numpy`` and ``scipy`` be plain arrays, for what is imported from now on."""
    own = {n: getattr(plain_linear_algebra, n) for n in ("LinAlgError", "norm", "svd", "pinv", "lstsq", "qr", "inv")}
    own |= {n: getattr(plain_linear_algebra, n) for n in ("cholesky", "eigvalsh")}
    inner = {
        "linalg": _Package("numpy.linalg", own),
        "random": _Package("numpy.random", {"default_rng": RandomNumbers}),
        "typing": _Package("numpy.typing", {"NDArray": _Typed, "ArrayLike": Any}),
    }
    held = vars(plain_arrays) | vars(plain_shapes) | vars(plain_functions)
    known = {n: x for n, x in held.items() if not n.startswith("_")} | plain_functions.ELEMENTARY
    known |= {n: _method(n) for n in ("max", "min", "all", "any", "sum")}
    known |= {"inf": math.inf, "nan": math.nan, "pi": math.pi, "newaxis": None, "bool": plain_arrays.bool_}
    known |= {"integer": int, "floating": float, "generic": plain_arrays.float64, "errstate": lambda **_: nullcontext()}
    packages = [_Package("numpy", known | inner), *inner.values()]
    packages += [_Package("scipy", {}), _Package("scipy.linalg", {"qr": plain_linear_algebra.qr})]
    sys.modules.update({package.__name__: package for package in packages})


class _Package(ModuleType):
    """A package of which some names are *known*."""

    def __init__(self, name: str, known: dict[str, Any]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _missing(f"{self.__name__}.{name}")


class _Typed:
    """A type of arrays in annotations."""

    def __class_getitem__(cls, _: Any) -> Any:
        return Any


def _missing(name: str) -> Any:
    """What there is of a function without a stand-in: something that may be named, and refuses to be called."""

    class Refusing(_Typed):
        def __new__(cls, *_: Any, **__: Any) -> NoReturn:
            raise NumericalError(f"This needs NumPy ({name}), which is not in the browser. Use kineta on a computer.")

    return Refusing


def _method(name: str) -> Callable[..., Any]:
    return lambda x, **options: getattr(plain_arrays.asarray(x), name)(**options)
