"""Formalisms, elements, constraints, joints and backends of other distributions, as those in ``plug_in`` are."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta import entry_points
from kineta.mechanics.formalisms import table
from kineta.mechanics.formalisms.kane import KANE

HERE = Path(__file__).parent

DRAGGED = """gravity 9.81; parameters k = 0.5;
A | Sx(x), Sz(z), Ry(q) = 2, 0.1, 0.1, 0.1;
point P on A = (1, 0, 0);
drag D = k on P;
spring S = 3 on x;
initial x = 1, z = 0, q = 0.5;"""

HUNG = """gravity 9.81; parameters L = sqrt(10) + sqrt(13);
A | Sz(a) = 1;
B | Sx(3), Sz(b) = 2;
point W on ground = (1, 0, 2);
rope R = L between A, W and B;
initial a = -1, b = -1;
output lambda.R;"""


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE / "plug_in")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE / "broken_plug_in")


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_an_element_is_read_written_and_pickled() -> None:
    system = kn.loads(DRAGGED)
    assert "drag D = k on P;" in kn.dumps(system)
    assert kn.loads(kn.dumps(system)) == system
    assert pickle.loads(pickle.dumps(system)) == system
    same = kn.loads(DRAGGED.replace("drag D = k on P;", "".join(_force(axis) for axis in "xyz")))
    v, vdot = np.array([0.3, -0.7, 0.2]), np.zeros(3)
    own, other = (kn.derive(s).function("inverse")(0.0, [1.0, 0.0, 0.5], v, vdot) for s in (system, same))
    assert own.tolist() == other.tolist()
    assert np.abs(own - kn.derive(system).function("inverse")(0.0, [1.0, 0.0, 0.5], v, vdot, {"k": 0.0})).max() > 0.1


def _force(axis: str) -> str:
    return f"force D_{axis} = -k*sqrt(1e-12 + P.vx^2 + P.vy^2 + P.vz^2)*P.v{axis} on P.{axis};"


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_an_element_and_a_formalism_are_verified_and_run() -> None:
    certificate = kn.verify(kn.loads(DRAGGED), states=3, digits=30)
    assert certificate.holds
    assert [row.formalism for row in certificate.rows][-1] == "nielsen"
    assert "every body is in balance" in [law.law for law in certificate.laws]
    assert kn.simulate(kn.loads(DRAGGED), 0.5).success


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_an_element_has_a_slope_at_rest() -> None:
    """Random states are never at rest: verify does not see a root without a slope."""
    system = kn.loads(f"{DRAGGED} spring Z = 30 on z; spring Q = 20 on q;")
    assert kn.equilibrium(system).residual < 1e-9
    assert np.isfinite(kn.sensitivity(system, 0.1, ["x"], samples=2)["x"]).all()


@pytest.mark.usefixtures("installed")
def test_a_formalism_is_found_by_name() -> None:
    equations = kn.derive(kn.loads(DRAGGED), "nielsen")
    assert equations.formalism == "nielsen"
    assert "Nielsen's equations" in str(equations.account())
    again = pickle.loads(pickle.dumps(equations))
    assert again.method is equations.method
    with pytest.raises(kn.ArgumentError, match=r"does not apply: its speeds have to be the rates of the coordinates\."):
        kn.derive(kn.loads("A | Ball(b) = 1, 1, 1, 1;"), "nielsen")
    with pytest.raises(kn.ArgumentError, match=r"wittenburg, nielsen\), found 'nielson'\. Did you mean 'nielsen'\?"):
        kn.derive(kn.loads(DRAGGED), "nielson")


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_constraint_is_read_verified_and_run() -> None:
    system = kn.loads(HUNG)
    assert kn.loads(kn.dumps(system)) == system
    assert kn.verify(system, states=3, digits=0).holds
    result = kn.simulate(system, 0.5)
    assert result.success
    assert np.all(result.outputs["lambda.R"] < 0)


#: A plate that slides, and the same with three coordinates of its own.
SLIDING = """gravity (0, -9.81, 0);
Plate | Planar(b) = 1, 0.2, 0.3, 0.4, com = (0.1, 0.05, 0);
Arm ~ Plate | Sx(0.5), Rz(q1) = 0.5, 0.1, 0.1, 0.1, com = (0.2, 0, 0);
spring S = 20 between ground at (0, 1, 0) and Arm;
damper D = 0.3 on q1';
coordinates b, q1;
initial b.x = 0.3, b.angle = 20 deg, b.vx = 1 m/s, b.wz = 0.4;"""
APART = SLIDING.replace("Planar(b)", "Sx(x), Sy(y), Rz(a)").replace("coordinates b", "coordinates x, y, a")
APART = APART.partition("initial")[0] + "initial x = 0.3, a = 20 deg, x' = cos(20 deg), y' = sin(20 deg), a' = 0.4;"


@pytest.mark.usefixtures("installed")
def test_a_joint_is_read_written_and_pickled() -> None:
    system = kn.loads(SLIDING)
    assert (system.q_names, system.v_names) == (("b.x", "b.y", "b.angle", "q1"), ("b.vx", "b.vy", "b.wz", "q1'"))
    assert "Plate | Planar(b) = " in kn.dumps(system)
    assert kn.loads(kn.dumps(system)) == system
    assert pickle.loads(pickle.dumps(system)) == system
    from kineta_plug_in.planar import Planar  # type: ignore[import-not-found]  # what is installed

    plate = kn.body("Plate", [Planar("b")], kn.inertia(1, (0.2, 0.3, 0.4), com=(0.1, 0.05, 0)))
    assert kn.System("m", [plate]).bodies == (replace(system.bodies[0], location=None),)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_a_joint_is_verified_and_runs_as_its_motions_apart() -> None:
    system, apart = kn.loads(SLIDING), kn.loads(APART)
    certificate = kn.verify(system, states=3, digits=0)
    assert certificate.holds
    assert sum(row.verdict == "agrees" for row in certificate.rows) == 7
    runs = [kn.simulate(s, 1.0, rtol=1e-11, atol=1e-12) for s in (system, apart)]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-9)
    assert kn.linearize(system).states[:4] == ("b.Sx", "b.Sy", "b.Rz", "q1")


@pytest.mark.usefixtures("installed")
def test_a_joint_follows_prescribed_coordinates() -> None:
    t = np.linspace(0, 1, 6)
    motion = {"x": "t^2", "y": "sin(t)", "a": "3*t^2", "q1": "cos(t)"}
    marked = {{"a": "b.angle", "q1": "q1"}.get(n, f"b.{n}"): x for n, x in motion.items()}
    own, other = kn.inverse(kn.loads(SLIDING), marked, t=t), kn.inverse(kn.loads(APART), motion, t=t)
    c, s = np.cos(3 * t**2), np.sin(3 * t**2)
    assert own["tau[b.vx]"] == pytest.approx(c * other["tau[x']"] + s * other["tau[y']"], abs=1e-12)
    assert own["tau[b.wz]"] == pytest.approx(other["tau[a']"], abs=1e-12)


@pytest.mark.usefixtures("installed")
def test_errors_know_the_words_of_joints() -> None:
    with pytest.raises(kn.ModelError, match=r"Ball or Free\. Did you mean 'Planar'\?"):
        kn.loads("A | Planer(b) = 1;")
    with pytest.raises(kn.ModelError, match="Planar takes a name, found an expression"):
        kn.loads("A | Planar(2*b) = 1;")
    with pytest.raises(kn.ModelError, match=r"the value of force 'F' on a length .* must be a force"):
        kn.loads("A | Planar(b) = 1, 1, 1, 1; force F = 3 N*m on b.x;")


@pytest.mark.usefixtures("installed")
def test_a_backend_is_found_by_name() -> None:
    equations, states = kn.derive(kn.loads(DRAGGED)), np.arange(12.0).reshape(4, 3) / 10
    exact, own = equations.function("forward", "fractions"), equations.function("forward")
    assert exact(0.0, states, states, 0.0) == pytest.approx(own(0.0, states, states, 0.0), rel=1e-12, abs=1e-12)
    assert exact(0.0, states[1], states[2], 0.0) == pytest.approx(own(0.0, states[1], states[2], 0.0), rel=1e-12)
    assert pickle.loads(pickle.dumps(exact)).backend == "fractions"


@pytest.mark.usefixtures("installed")
def test_errors_name_the_record_and_its_place() -> None:
    with pytest.raises(
        kn.ModelError, match=r"Drag 'D' \(<text>:4:6\): unknown symbol 'Q\.vx'\. Did you mean 'P\.vx'\?"
    ):
        kn.loads(DRAGGED.replace("k on P", "k on Q"))
    with pytest.raises(kn.ModelError, match=r"the factor of drag 'D' must be a quantity \[kg/m\], found a length"):
        kn.loads(DRAGGED.replace("k on P", "3 m on P"))
    with pytest.raises(kn.ModelError, match="'on' or an operator, found 'at'"):
        kn.loads(DRAGGED.replace("k on P", "k at P"))


def test_a_formalism_may_be_an_object() -> None:
    system, own = kn.loads("A | Rz(q) = 1, 1, 1, 1;"), replace(KANE, name="own")
    equations = kn.derive(system, formalism=own)
    assert (equations.formalism, equations.method) == ("own", own)
    assert equations.account().formalism == "own"
    assert equations.without([]).method is own
    assert equations.function("inverse")(0.0, [0.1], [0.2], [0.3]).tolist() == [0.3]
    assert pickle.loads(pickle.dumps(kn.derive(system, KANE))).method is KANE
    assert own != replace(own)


@pytest.mark.parametrize(
    ("given", "lacking"), [(object(), "'name', 'source', 'applies', 'derivation', 'told'"), (type(KANE), "'name'")]
)
def test_an_object_that_is_no_formalism_is_told_what_it_lacks(given: object, lacking: str) -> None:
    with pytest.raises(kn.ArgumentError, match=f"as an object, found .* without {lacking}; kineta"):
        kn.derive(kn.loads("A | Rz(q) = 1, 1, 1, 1;"), given)  # type: ignore[arg-type]  # what the test is about


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda s: kn.derive(s, "jourdain"), "importing kineta_broken.jourdain:JOURDAIN raises ModuleNotFoundError"),
        (lambda s: kn.derive(s, "hertz"), "expected a formalism, found an ABCMeta without 'name'"),
        (lambda s: kn.derive(s).function("forward", "fortran"), "importing kineta_broken.fortran:compile raises"),
        (lambda s: kn.loads("A | Sx(x) = 1; magnet M = 3 on A;"), "importing kineta_broken.magnet:Magnet raises"),
        (
            lambda s: kn.loads("A | Sx(x) = 1; winch W = 3 on A;"),
            "expected a subclass of .*CompoundElement, found an ABC",
        ),
        (lambda s: kn.loads("A | Gimbal(g) = 1;"), "importing kineta_broken.gimbal:Gimbal raises"),
        (lambda s: kn.loads("A | Hinge(g) = 1;"), "expected a subclass of .*Joint, found an ABC"),
    ],
)
def test_a_broken_entry_point_is_a_sentence_that_names_the_distribution(ask: object, text: str) -> None:
    with pytest.raises(
        kn.KinetaError, match=rf"The entry point '\w+' of .*, of the distribution 'kineta-broken': {text}"
    ):
        ask(kn.loads("A | Rz(q) = 1, 1, 1, 1;"))  # type: ignore[operator]  # a function


@pytest.mark.usefixtures("broken")
def test_a_broken_formalism_is_left_out_of_a_certificate_with_a_warning() -> None:
    with pytest.warns(kn.KinetaWarning, match="kineta-broken"):
        assert kn.verify(kn.loads("A | Rz(q) = 1, 1, 1, 1;"), states=2, digits=0).holds


def test_two_distributions_with_one_name_are_both_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[kineta.formalisms]\ntwice = {name}:X\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        kn.ArgumentError, match=r"found two, of the distributions '(one|two)' and '(one|two)'\. Uninstall"
    ):
        entry_points.installed("kineta.formalisms")


def test_nothing_of_entry_points_is_read_without_a_need() -> None:
    code = "import sys, kineta as kn; kn.derive(kn.loads('A | Rz(q) = 1, 1, 1, 1;'), 'kane').operations('inverse')\n"
    code += "from kineta import entry_points\nassert not entry_points._declared.cache_info().misses"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_a_formalism_of_a_plug_in_is_listed_once(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FORMALISMS", {**table.FORMALISMS, "nielsen": KANE})
    with pytest.raises(kn.ArgumentError, match=r"wittenburg, nielsen\), found"):
        kn.derive(kn.loads(DRAGGED), "nothing")


POSTPONED = """from dataclasses import dataclass, field
from kineta.errors import Location
from kineta.algebra.expression import Expr
from kineta.model.coercion import ModelRecord

@dataclass(frozen=True, slots=True)
class Plain(ModelRecord):
    name: str
    value: Expr
    pairs: tuple[tuple[str, Expr], ...] = ()
    location: Location | None = None

@dataclass(frozen=True, slots=True)
class Strange(ModelRecord):
    many: dict[str, int]
"""


def test_records_of_files_that_postpone_no_annotations() -> None:
    found: dict[str, Any] = {"__name__": "own_file"}
    exec(compile(POSTPONED, "own_file.py", "exec", dont_inherit=True), found)
    made = found["Plain"]("a", 2.0, {"s": 1})
    assert (made.value.value, made.pairs[0][1].value) == (2.0, 1.0)
    with pytest.raises(
        kn.ArgumentError, match=r"own_file: expected 'many' of Strange to have one of the types str, bool, Expr"
    ):
        found["Strange"]({})


@pytest.mark.slow
def test_a_section_of_several_motions_is_refused(installed: None) -> None:
    section = importlib.import_module("kineta_plug_in.poincare_section").poincare_section
    ball = kn.loads("A | Sx(x) = 1; coordinates x; spring s = 1 on x; initial x = -1;")
    assert len(section(ball, 7.0, kn.symbol("x")).t) == 1
    with pytest.raises(kn.ArgumentError, match="expected one motion, found 2; ask for each by itself"):
        section(ball, 7.0, kn.symbol("x"), q=[[-1.0], [-2.0]])
