"""Linear algebra looks at its numbers first, and has one door."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import kineta
from kineta.errors import NumericalError, SingularMatrixError
from kineta.numerics import linear_algebra

PACKAGE = Path(kineta.__file__).parent
DOOR = PACKAGE / "numerics" / "linear_algebra.py"
STAND_IN = PACKAGE / "playground" / "stand_in.py"
MEASURES = ("cond", "det", "unit_rows")
OWN = inspect.getmembers(linear_algebra, lambda f: inspect.isfunction(f) and f.__module__ == linear_algebra.__name__)
GUARDED = [name for name, _ in OWN if name[0] != "_" and name not in MEASURES]
#: What the functions take beside one matrix.
MORE = {"solve": 1, "solve_positive": 1, "solve_triangular": 1, "lstsq": 1, "ranked_lstsq": 1}


def call(name: str, A: np.ndarray) -> object:
    function = getattr(linear_algebra, name)
    more = [np.ones(len(A))] * MORE.get(name, 0) + [1e-9] * (name in ("matrix_rank", "dependent_row"))
    return function(A, *more, what="the modes of 'it'")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", GUARDED)
def test_what_is_not_finite_is_a_sentence(name: str, bad: float, capfd: pytest.CaptureFixture[str]) -> None:
    A = np.diag([1.0, 2.0, 3.0])
    A[0, 2] = bad
    with pytest.raises(NumericalError) as error:
        call(name, A)
    assert str(error.value) == (
        f"There is no value for the modes of 'it': {bad:g} in row 1, column 3 of its matrix; an expression has no value at "
        "this state, or one beyond all numbers. Change the state or the parameters."
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["cond", "det"])
def test_what_measures_is_nan(name: str, bad: float) -> None:
    A = np.stack([np.diag([1.0, 2.0]), np.array([[bad, 1.0], [1.0, 1.0]])])
    found = getattr(linear_algebra, name)(A)
    assert found[0] == 2.0
    assert np.isnan(found[1])


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky"])
def test_what_is_singular_is_a_sentence(name: str) -> None:
    with pytest.raises(SingularMatrixError, match=r"^There is no value for the modes of 'it': .*\.$"):
        call(name, np.zeros((2, 2)))


def test_of_several_the_case_is_named() -> None:
    A = np.stack([np.eye(2)] * 3)
    A[2, 1, 0] = np.nan
    with pytest.raises(NumericalError, match="nan in case 3, row 2, column 1"):
        linear_algebra.inv(A, what="it")


def test_scales_at_the_ends_of_all_numbers_do_not_count() -> None:
    for size in (1e-300, 1e300):
        A = size * np.array([[2.0, 1.0], [1.0, 3.0]])
        np.testing.assert_allclose(linear_algebra.lstsq(A, A @ [1.0, 2.0], what="it"), [1.0, 2.0], rtol=1e-14)
        np.testing.assert_allclose((linear_algebra.eigvalsh(A, what="it") / size).prod(), 5.0, rtol=1e-14)


def test_every_function_asks_what_it_computes() -> None:
    for name in GUARDED:
        what = inspect.signature(getattr(linear_algebra, name)).parameters["what"]
        assert what.kind is inspect.Parameter.KEYWORD_ONLY
        assert what.default is inspect.Parameter.empty


def test_scipy_is_not_imported_with_it() -> None:
    code = "import sys, kineta.numerics.linear_algebra; print([m for m in sys.modules if m.startswith('scipy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def strangers(source: str) -> list[int]:
    """Lines of *source* that reach numpy.linalg, scipy.linalg or scipy.sparse.linalg, by whatever name."""
    found: list[int] = []
    if "linalg" not in source:
        return found
    for node in ast.walk(ast.parse(source)):
        names = {
            ast.Attribute: lambda n: [n.attr],
            ast.Import: lambda n: [part for a in n.names for part in a.name.split(".")],
            ast.ImportFrom: lambda n: [*(n.module or "").split("."), *(a.name for a in n.names)],
            ast.Constant: lambda n: n.value.split(".") if isinstance(n.value, str) and " " not in n.value else [],
        }.get(type(node), lambda n: [])(node)
        if "linalg" in names:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.linalg.solve(A, b)",
        "from numpy import linalg",
        "from numpy.linalg import svd",
        "import scipy.linalg as la",
        "def f():\n    from scipy.sparse.linalg import splu",
        "from scipy.sparse import linalg as sparse",
        "getattr(np, 'linalg').solve",
        "importlib.import_module('scipy.linalg')",
    ],
)
def test_strangers_are_seen(source: str) -> None:
    assert strangers(source)


def test_linear_algebra_has_one_door() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in PACKAGE.rglob("*.py")
        if path not in (DOOR, STAND_IN)
        for line in strangers(path.read_text(encoding="utf-8"))
    }
    assert not found, f"use kineta.numerics.linear_algebra instead: {sorted(found)}"


@pytest.mark.parametrize("shape", [(4, 4), (2, 6), (6, 2), (0, 3), (3, 0), (0, 0)])
def test_pivoted_factors_are_those_of_scipy(shape: tuple[int, int]) -> None:
    """Matrices without rows or columns, too, which LAPACK does not take."""
    A = np.random.default_rng(3).normal(size=shape)
    for found, expected in (
        (linear_algebra.pivoted_qr(A, what="A"), scipy.linalg.qr(A, pivoting=True)),
        (linear_algebra.pivoted_triangle(A, what="A"), scipy.linalg.qr(A, mode="r", pivoting=True)),
    ):
        assert all(map(np.array_equal, found, expected))
    assert linear_algebra.solve_triangular(np.empty((0, 0)), np.empty(0), what="x").shape == (0,)
