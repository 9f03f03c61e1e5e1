"""The certificate: formalisms that agree are certified, and any that is wrong is found."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

import kineta as kn
from kineta.expr.graph import Graph, Ref, neg
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable
from kineta.formalism import table
from kineta.formalism.derivation import Derivation
from kineta.formalism.formalism import Formalism
from kineta.passes.substitute import signed, substitute
from kineta.tasks import verify as task
from tests.formalism.random_systems import random_system
from tests.support import EXAMPLES

#: Examples that are certified in 50 digits; tests/cli/test_examples.py certifies the others in double precision.
CERTIFIED = ("hopping_robot_stance", "cart_pendulum", "free_satellite", "branched")


@pytest.mark.parametrize("model", CERTIFIED)
def test_examples_are_certified(model: str) -> None:
    certificate = kn.verify(kn.load(EXAMPLES / f"{model}.kin"), states=12)
    assert certificate.holds, str(certificate)
    assert all(r.double < 1e-12 and r.precise is not None and r.precise < 1e-38 for r in certificate.rows)
    assert (
        certificate.sentence
        == f"Model '{model}': {len(table.FORMALISMS)} formalisms agree, {len(certificate.laws)} laws hold."
    )


def test_forces_far_larger_than_inertia_are_no_disagreement() -> None:
    """What a stiff spring leaves of the digits of an acceleration is measured by the accelerations that it gives."""
    stiff = kn.loads("model stiff; parameters k = 1e9; coordinates x; A | Sx(x) = m(1); spring s = k on x;")
    certificate = kn.verify(stiff, states=8)
    assert certificate.holds, str(certificate)


@pytest.mark.parametrize("seed", range(4))
def test_random_systems_are_certified(seed: int) -> None:
    certificate = kn.verify(random_system(seed, rheonomic=True, elements=True, n=4), states=10)
    assert certificate.holds, str(certificate)


def with_one_sign_changed(graph: Graph, refs: list[Ref]) -> list[Ref]:
    """*refs* with the sign of one operand of a sum in the middle changed."""
    order = reachable(graph, refs)
    sums = [i for i in order if graph.op[i] == Op.ADD]
    copy: dict[int, Ref] = {}
    for i in order:
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in LEAVES:
            copy[i] = 2 * i
            continue
        x, y = signed(copy[a >> 1], a), 0 if op in UNARY else signed(copy[b >> 1], b)
        copy[i] = graph.call(op, x, neg(y) if i == sums[len(sums) // 2] else y)
    return [signed(copy[r >> 1], r) for r in refs]


def with_a_wrong_sign(name: str) -> Formalism:
    """A formalism with a wrong sign in one of its terms."""
    true = table.FORMALISMS[name]

    def residual(d: Derivation) -> list[Ref]:
        return with_one_sign_changed(d.graph, true.residual(d))

    return replace(true, residual=residual)


@pytest.mark.parametrize("wrong", list(table.FORMALISMS))
def test_a_wrong_sign_in_any_formalism_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**table.FORMALISMS, wrong: with_a_wrong_sign(wrong)}
    monkeypatch.setattr(task, "FORMALISMS", changed)
    monkeypatch.setattr("kineta.compiler.FORMALISMS", changed)
    certificate = kn.verify(kn.load(EXAMPLES / "branched.kin"), states=6)
    assert not certificate.holds
    assert [r.formalism for r in certificate.rows if not r.agrees] == [wrong]
    assert certificate.sentence == f"Model 'branched': {wrong} disagrees with the other formalisms."


def test_a_wrong_sign_in_what_is_compiled_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(graph: Graph, refs: list[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
        return substitute(graph, with_one_sign_changed(graph, refs), {}, target)

    monkeypatch.setattr("kineta.passes.simplify.PASSES", (("wrong", wrong),))
    certificate = kn.verify(kn.load(EXAMPLES / "branched.kin"), states=6, digits=0)
    assert [law.law for law in certificate.laws if not law.holds] == [
        "formulas as shown and compiled have the values derived"
    ]


def test_what_cannot_move_has_no_certificate() -> None:
    fixed = kn.loads("Lamp | Sz(2) = 1;")
    assert kn.derive(fixed, "lagrange").function("forward")(0.0, [], [], 0.0).shape == (0,)
    with pytest.raises(kn.ArgumentError, match="Model 'text': nothing in it can move"):
        kn.verify(fixed)


def test_a_formalism_that_does_not_apply_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = replace(table.FORMALISMS["gauss"], applies=lambda system: "it has too many bodies.")
    changed = {**table.FORMALISMS, "gauss": narrow}
    monkeypatch.setattr(task, "FORMALISMS", changed)
    monkeypatch.setattr("kineta.compiler.FORMALISMS", changed)
    certificate = task.verify(kn.load(EXAMPLES / "double_pendulum.kin"), states=3, digits=0)
    assert certificate.holds
    assert "gauss: it has too many bodies." in str(certificate)
    with pytest.raises(kn.ArgumentError, match=r"the formalism gauss does not apply: it has too many bodies\."):
        kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"), "gauss")


def test_arguments_are_checked() -> None:
    with pytest.raises(kn.ArgumentError, match="Expected a System"):
        kn.verify("model.kin")  # type: ignore[arg-type]  # what the test is about
    model = kn.load(EXAMPLES / "double_pendulum.kin")
    with pytest.raises(kn.ArgumentError, match="Expected a whole number from 1 to 1000000 for states, found 0"):
        kn.verify(model, states=0)
    with pytest.raises(kn.ArgumentError, match="Expected 0 or at least 20 digits, found 7"):
        kn.verify(model, digits=7)


LINKAGE = """model linkage; parameters m = 1, a = 1, b = 2;
    Crank | Rz(q1), Sx(a) = m, 0.1, 0.1, 0.1; Coupler ~ Crank | Rz(q2), Sx(b) = m, 0.1, 0.1, 0.1;
    Rocker | Sx(b), Rz(q3), Sx(a) = m, 0.1, 0.1, 0.1; Middle | Sx(b / 2), Rz(q4), Sx(a) = m, 0.1, 0.1, 0.1;
    point Half on Coupler = (-b / 2, 0, 0);
    constraint x1 : Coupler.x = Rocker.x; constraint y1 : Coupler.y = Rocker.y;
    constraint x2 : Half.x = Middle.x; constraint y2 : Half.y = Middle.y;
    initial q1 = 1, q2 = -1, q3 = 1, q4 = 1;"""


def test_a_constraint_that_follows_from_others_where_they_hold_is_left_out_and_named() -> None:
    """A third crank of a parallelogram: its four constraints are independent everywhere but where they hold."""
    certificate = kn.verify(kn.loads(LINKAGE), states=12, digits=30)
    assert certificate.holds, certificate.sentence
    assert certificate.left_out == ("y2",)
    assert "y2: left out, as others say the same" in certificate.sentence


def test_constraints_that_no_state_meets_are_named() -> None:
    far = kn.loads("model far; P | Sx(q1), Sy(q2) = 1; constraint c : q1^2 + q2^2 + 1 = 0;")
    with pytest.raises(kn.SimulationError, match=r"none of 90 random states could be moved onto its constraints \(c\)"):
        kn.verify(far, states=3)


#: Numbers so far apart that double precision keeps few digits of some forces.
SCALES = {
    "a grain on a fibre, beside a ship on a spring": """gravity (0, 0, -9.81); parameters m = 1e-6, M = 1e6, l = 1000, k = 1e12;
        Big | Sz(q1) = M, 1e8, 2e8, 3e8; Fibre ~ Big | Rx(q2), Ry(q3), Sz(-l) = m;
        Grain ~ Fibre | Sx(0.001), Rz(q4), Sy(1e-5) = m; spring s = k on q1;""",
    "a wheel of next to no inertia": """gravity (0, -9.81, 0); A | Rz(q1), Sx(1) = 1, 1, 1, 1;
        B ~ A | Rx(q2), Ry(q3), Rz(q4) = 1, 1, 1, 1e-12;""",
    "masses": """gravity (0, -9.81, 0); A | Rz(q1), Sx(1) = 1e6, 1, 1, 1; B ~ A | Rz(q2), Sx(1) = 1e-6, 1e-6, 1e-6, 1e-6;
        C ~ B | Rx(q3), Sy(1) = 1e6, 1, 1, 1; D ~ C | Rz(q4), Sx(1) = m(1e-6);""",
    "angles": """gravity (0, -9.81, 0); A | Rz(q1), Sx(1) = 1, 0.1, 0.1, 0.1; B ~ A | Rz(q2), Sx(1) = 1, 0.1, 0.1, 0.1;
        C ~ B | Rx(q3), Sy(1) = 1, 0.2, 0.1, 0.3; initial q1 = 1e5, q2 = -1e5, q3 = 1e5;""",
    "a place": """gravity (0, -9.81, 0); A | Sx(1e6), Rz(q1), Sx(1) = 1, 0.1, 0.1, 0.1; B ~ A | Rz(q2), Sx(1) = 1, 0.1, 0.1, 0.1;
        C ~ B | Rx(q3), Sy(1) = 1, 0.2, 0.1, 0.3;""",
    "axes": """gravity (0, -9.81, 0); A | Rz(q1), Sx(1) = 1, 0.1, 0.1, 0.1, com = (1e6, 0, 0);
        B ~ A | Sx(1e6), Sy(1e6), Rz(q2), Sx(-1e6) = 1, 0.1, 0.1, 0.1; C ~ B | Rx(q3), Sy(1) = 1, 0.2, 0.1, 0.3;""",
}


@pytest.mark.parametrize("name", SCALES)
def test_scales_far_apart_raise_no_alarm(name: str) -> None:
    certificate = kn.verify(kn.loads(SCALES[name]), states=8, digits=30)
    assert certificate.holds, str(certificate)


def test_what_rounding_misses_is_told_from_errors_in_many_digits() -> None:
    model = kn.loads(SCALES["axes"])
    certificate = kn.verify(model, states=8, digits=30)
    (law,) = (x for x in certificate.laws if x.law == "the ground bears what changes the momenta")
    assert law.worst > 1e-12
    assert law.precise is not None
    assert law.precise < 1e-20
    assert f"{law.law} (by rounding; " in str(certificate)
    assert kn.verify(model, states=8, digits=0).sentence.endswith("With digits (50) an error is told from rounding.")


@pytest.mark.parametrize("name", SCALES)
def test_a_wrong_sign_is_found_whatever_the_scales(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**table.FORMALISMS, "kane": with_a_wrong_sign("kane")}
    monkeypatch.setattr(task, "FORMALISMS", changed)
    monkeypatch.setattr("kineta.compiler.FORMALISMS", changed)
    certificate = kn.verify(kn.loads(SCALES[name]), states=8, digits=30)
    assert [r.formalism for r in certificate.rows if not r.agrees] == ["kane"]


FREE_LINKAGE = """Frame | Sx(x), Sy(y), Rz(phi) = 3, 1, 1, 1; parameters m = 1, a = 1, b = 2;
    Crank ~ Frame | Rz(q1), Sx(a) = m, 0.1, 0.1, 0.1; Coupler ~ Crank | Rz(q2), Sx(b) = m, 0.1, 0.1, 0.1;
    Rocker ~ Frame | Sx(b), Rz(q3), Sx(a) = m, 0.1, 0.1, 0.1; Middle ~ Frame | Sx(b / 2), Rz(q4), Sx(a) = m, 0.1, 0.1, 0.1;
    loop A : revolute between Coupler axis (0, 0, 1) and Rocker;
    loop B : revolute between Coupler at (-1, 0, 0) axis (0, 0, 1) and Middle;
    initial q1 = 1, q2 = -1, q3 = 1, q4 = 1; coordinates x, y, phi, q1, q2, q3, q4;"""


WIRE = "model wire; A | Sx(x), Sy(y) = 1; constraint c : x^2 + y^2 = 1; initial x = 1; coordinates x, y;"


def test_laws_that_do_not_speak_of_a_model_are_named() -> None:
    """Loops between bodies leave the momenta to the ground; what takes hold of the ground does not."""
    free, held = (kn.verify(kn.loads(text), states=4, digits=0) for text in (FREE_LINKAGE, WIRE))
    assert free.holds, str(free)
    assert [law for law, _ in free.aside] == ["forward dynamics undo inverse dynamics"]
    assert [law for law, _ in held.aside] == [
        *(law for law, _ in free.aside),
        "the ground bears what changes the momenta",
        "reactions of joints do no work",
    ]
    assert "'the ground bears what changes the momenta' is not asked: it speaks of systems without elements" in str(
        held
    )


@pytest.mark.parametrize("slip", ["0.3", "0.3*sin(t)", "P.vx"])
def test_a_constraint_that_drives_is_no_false_alarm(slip: str) -> None:
    system = kn.loads(f"""
        gravity (0, -9.81, 0);
        Sledge | Sx(x), Sy(y), Rz(phi) = m(2), Jz(0.1), com = (0.1, 0, 0);
        coordinates x, y, phi;
        point P on Sledge = (0.2, 0, 0);
        constraint edge : x'*sin(phi) - y'*cos(phi) = {slip};
        quasi u = x'*cos(phi) + y'*sin(phi) + phi', phi';
    """)
    certificate = kn.verify(system, states=8, digits=0)
    assert certificate.holds, str(certificate)
    assert ("v.(dM/dt - 2C)v = 0" in [law.law for law in certificate.laws]) == (slip == "P.vx")
