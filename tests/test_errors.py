"""Errors of every class travel between processes as they are."""

import copy
import importlib
import pickle
import pkgutil

import pytest

import kineta
from kineta.errors import KinetaError, Location, MissingPackageError


def every(kind: type[KinetaError]) -> set[type[KinetaError]]:
    return {kind}.union(*(every(k) for k in kind.__subclasses__()))


def classes() -> list[type[KinetaError]]:
    """All that the package defines."""
    for module in pkgutil.walk_packages(kineta.__path__, "kineta."):
        if module.name != "kineta.__main__":
            importlib.import_module(module.name)
    return sorted((k for k in every(KinetaError) if k.__module__.startswith("kineta")), key=lambda k: k.__qualname__)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_error_can_be_pickled(protocol: int) -> None:
    found = classes()
    assert {k.__name__ for k in found} >= {"KinetaError", "MissingPackageError", "ModelError", "NumericalError"}
    for kind in found:
        error = kind.__new__(kind, f"m.kin:1:2: What {kind.__name__} says.")
        error.location = Location("m.kin", 1, 2)
        error.add_note("more")
        for again in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error)):
            assert type(again) is kind
            assert str(again) == str(error)
            assert again.args == error.args
            assert again.__dict__ == error.__dict__


def test_a_missing_package_is_said_in_another_process() -> None:
    error = MissingPackageError("matplotlib", "plot")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "This needs the package 'matplotlib': pip install 'kineta[plot]'."
