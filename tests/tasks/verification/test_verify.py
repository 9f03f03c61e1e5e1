"""The certificate: formalisms that agree are certified, and any that is wrong is found."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

import pytest

import kineta as kn
from kineta.errors import Location
from kineta.expr.graph import Graph, Ref, neg
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable
from kineta.mechanics.constraints import RESIDUALS
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.formalisms import table
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.model.body import Station
from kineta.model.kind import Condition, Kind
from kineta.passes.substitute import signed, substitute
from kineta.tasks.verification import verify as task
from tests.mechanics.random_loops import chain
from tests.mechanics.random_systems import random_system
from tests.support import EXAMPLES, PILES, examples, quick_but, slow, some

#: Examples in which formalisms agree closely, in double precision and in 50 digits.
CLOSELY = ("hopping_robot_stance", "cart_pendulum", "free_satellite", "branched")


def test_forces_far_larger_than_inertia_are_no_disagreement() -> None:
    """What a stiff spring leaves of the digits of an acceleration is measured by the accelerations that it gives."""
    stiff = kn.loads("model stiff; parameters k = 1e9; coordinates x; A | Sx(x) = m(1); spring s = k on x;")
    certificate = kn.verify(stiff, states=8)
    assert certificate.holds, str(certificate)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
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


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["newton_euler", *slow(name for name in table.FORMALISMS if name != "newton_euler")])
def test_a_wrong_sign_in_any_formalism_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**table.FORMALISMS, wrong: with_a_wrong_sign(wrong)}
    monkeypatch.setattr(table, "FORMALISMS", changed)
    certificate = kn.verify(kn.load(EXAMPLES / "branched.kin"), states=6)
    assert not certificate.holds
    assert [r.formalism for r in certificate.rows if not r.agrees] == [wrong]
    assert certificate.sentence == f"Model 'branched': {wrong} disagrees with the other formalisms."


@pytest.mark.slow
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
    monkeypatch.setattr(table, "FORMALISMS", changed)
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


@pytest.mark.slow
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


#: Two bodies that reach from the ground to a universal joint only stretched.
STRETCHED = """model stretched; gravity 9.81; F | Ball(f) = 3, 0.2, 0.3, 0.25, com = (0.1, 0, 0.2);
    G ~ F | Sx(1), Ball(g) = 1, 0.1, 0.2, 0.2;
    loop u : universal between G at (0.5, 0, 0) axis (1, 0, 0) and ground at (1.5, 0, 0) axis (0, 0, 1);"""


@pytest.mark.slow
@pytest.mark.parametrize("task", [kn.verify, kn.first_integrals])
def test_a_model_that_closes_only_in_a_singular_position_is_refused(task: Callable[[kn.System], object]) -> None:
    with pytest.raises(
        kn.SimulationError, match=r"the constraint u\.x changes with no motion there\. Start a little beside"
    ):
        task(kn.loads(STRETCHED))


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
SCALE_NAMES = ["angles", "a place", *slow(name for name in SCALES if name not in ("angles", "a place"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALE_NAMES)
def test_scales_far_apart_raise_no_alarm(name: str) -> None:
    certificate = kn.verify(kn.loads(SCALES[name]), states=8, digits=30)
    assert certificate.holds, str(certificate)


@pytest.mark.slow
def test_what_rounding_misses_is_told_from_errors_in_many_digits() -> None:
    model = kn.loads(SCALES["axes"])
    certificate = kn.verify(model, states=8, digits=30)
    (law,) = (x for x in certificate.laws if x.law == "the ground bears what changes the momenta")
    assert law.worst > 1e-12
    assert law.precise is not None
    assert law.precise < 1e-20
    assert f"{law.law} (by rounding; " in str(certificate)
    assert kn.verify(model, states=8, digits=0).sentence.endswith("With digits (50) an error is told from rounding.")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALE_NAMES)
def test_a_wrong_sign_is_found_whatever_the_scales(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {**table.FORMALISMS, "kane": with_a_wrong_sign("kane")}
    monkeypatch.setattr(table, "FORMALISMS", changed)
    certificate = kn.verify(kn.loads(SCALES[name]), states=8, digits=30)
    assert [r.formalism for r in certificate.rows if not r.agrees] == ["kane"]


FREE_LINKAGE = """Frame | Sx(x), Sy(y), Rz(phi) = 3, 1, 1, 1; parameters m = 1, a = 1, b = 2;
    Crank ~ Frame | Rz(q1), Sx(a) = m, 0.1, 0.1, 0.1; Coupler ~ Crank | Rz(q2), Sx(b) = m, 0.1, 0.1, 0.1;
    Rocker ~ Frame | Sx(b), Rz(q3), Sx(a) = m, 0.1, 0.1, 0.1; Middle ~ Frame | Sx(b / 2), Rz(q4), Sx(a) = m, 0.1, 0.1, 0.1;
    loop A : revolute between Coupler axis (0, 0, 1) and Rocker;
    loop B : revolute between Coupler at (-1, 0, 0) axis (0, 0, 1) and Middle;
    initial q1 = 1, q2 = -1, q3 = 1, q4 = 1; coordinates x, y, phi, q1, q2, q3, q4;"""


WIRE = "model wire; A | Sx(x), Sy(y) = 1; constraint c : x^2 + y^2 = 1; initial x = 1; coordinates x, y;"


@pytest.mark.slow
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


@pytest.mark.parametrize("slip", ["0.3", *slow(["0.3*sin(t)", "P.vx"])])
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


#: Sound models in which much is exactly zero: structures without freedom, frozen mechanisms, motions without forces.
STILL = {
    "a truss": """gravity (0, -9.81, 0); A | Rz(a), Sx(1) = 1, 0.1, 0.1, 0.1; B | Sx(1.5), Rz(b), Sx(-1) = 1, 0.1, 0.1, 0.1;
        loop tip : ball between A and B; initial a = 1, b = -1; coordinates a, b;""",
    "a beam on pin and roller": """gravity (0, -9.81, 0); Beam | Sx(x), Sy(y), Rz(phi) = m(10), Jz(3.3);
        point L on Beam = (-1, 0, 0); point R on Beam = (1, 0, 0); force P on Beam at (0.3, 0, 0) = (0, -100, 0) in ground;
        constraint px : L.x = 0; constraint py : L.y = 0; constraint ry : R.y = 0; coordinates x, y, phi; initial x = 1;""",
    "a tripod": """gravity (0, 0, -9.81); A | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z; initial z = 1.7;
        loop a : distance = 2 between ground at (1, 0, 0) and A; loop b : distance = 2 between ground at (-0.5, 0.8, 0) and A;
        loop c : distance = 2 between ground at (-0.5, -0.8, 0) and A;""",
    "a bar on a pin and a line": """gravity (0, -9.81, 0); A | Sx(x), Sy(y), Rz(a) = 1, 0.1, 0.1, 0.1;
        loop f : ball between A at (-1, 0, 0) and ground; coordinates x, y, a; initial x = 1;
        loop g : line between ground at (2, 0, 0) axis (1, 0, 0) and A at (1, 0, 0);""",
    "a frozen mechanism": """gravity (0, -9.81, 0); A | Rz(q1), Sx(1) = 1, 0.1, 0.1, 0.1;
        B ~ A | Rz(q2), Sx(1) = 1, 0.1, 0.1, 0.1; constraint c : q1 = 0.5; constraint d : q2' = 0;""",
    "a welded body": "gravity (0, 0, -9.81); A | Free(a) = 1, 0.1, 0.2, 0.15; loop r : rigid between ground and A;",
    "a body without forces": "A | Free(a) = 1, 0.1, 0.2, 0.15;",
    "a linkage in a level plane": """gravity (0, 0, -9.81); A | Rz(q1), Sx(1) = 1, 0.1, 0.1, 0.1;
        B | Rz(q2), Sx(1) = 1, 0.1, 0.1, 0.1; C ~ A | Sx(1), Rz(q3), Sx(1) = 1, 0.1, 0.1, 0.2;
        loop x : ball between C at (1, 0, 0) and B; initial q1 = 0.3, q2 = 0.3, q3 = 0.8;""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", some(STILL, 3))
def test_what_is_exactly_zero_is_no_disagreement(name: str) -> None:
    certificate = kn.verify(kn.loads(STILL[name]), states=12)
    assert certificate.holds, str(certificate)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", examples(without=PILES))
def test_every_example_is_certified_with_the_defaults(name: str) -> None:
    certificate = kn.verify(kn.load(EXAMPLES / f"{name}.kin"))
    assert certificate.holds, str(certificate)
    if name in CLOSELY:
        assert all(r.double < 1e-12 and r.precise is not None and r.precise < 1e-38 for r in certificate.rows)
        formalisms, laws = len(table.FORMALISMS), len(certificate.laws)
        assert certificate.sentence == f"Model '{name}': {formalisms} formalisms agree, {laws} laws hold."


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("seed", range(0, 100, 7))
def test_sound_systems_are_certified(seed: int) -> None:
    if seed % 4:
        system = random_system(seed, rheonomic=bool(seed % 2), elements=bool(seed % 3), n=2 + seed % 3)
    else:
        system = chain(seed, seed // 4 % 4)
    certificate = kn.verify(system, states=8)
    assert certificate.holds, str(certificate)


@dataclass(frozen=True, slots=True)
class Pin(Condition):
    """A kind of constraint that no module knows: two places that are one in a plane."""

    name: str
    start: Station
    end: Station
    location: Location | None = field(default=None, compare=False, repr=False)


@pytest.mark.slow
def test_a_new_kind_of_constraint_is_a_row_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate, another ground frame and the reactions of joints ask the rows of a kind and do not know it by name."""

    def pinned(on: Elements, pin: Pin) -> dict[str, Ref]:
        a, b = (on.kinematics.position(place).refs for place in (pin.start, pin.end))
        return {"x": on.graph.sub(b[0], a[0]), "y": on.graph.sub(b[1], a[1])}

    Pin.kind = Kind(Pin, "pin", {}, lambda pin: "", place=lambda pin: "end")
    monkeypatch.setitem(RESIDUALS, Pin, pinned)
    text = "gravity (0, -9, 0); A | Rz(a), Sx(1) = 1, 1, 1, 1; B | Sx(1.5), Rz(b), Sx(1.2) = 1, 1, 1, 1;"
    open_ = kn.loads(f"{text} coordinates a, b; initial a = 1, b = 1.8;")
    pin = Pin("pin", kn.station("A", (0.1, 0, 0)), kn.station("B", (0, 0.1, 0)))
    certificate = kn.verify(open_.replace(constraints=[pin]), states=6)
    assert certificate.holds, str(certificate)
    assert "another ground frame shows the same motion" in [law.law for law in certificate.laws]
    assert "every body is in balance" in dict(certificate.aside)


#: Sound models of elements alone, and with distances that other coordinates or places set.
SOUND = {
    "elements": "inertia a = 1 on x'; inertia b = 2 on y'; spring s = 3 on x - y;",
    "elements and a constraint": "inertia a = 1 on x'; inertia b = 2 on y'; constraint c : x + 2*y = t^2;",
    "a damper within a body": "A | Sx(x), Ry(y) = 1, 1, 1, 1; frame F ~ A | Rx(0.3); damper d = 2 between A and F at (1, 2, 0);",
    "distance of a coordinate": "coordinates w; A | Sx(x), Sy(y) = 1; W | Sz(w) = 2;"
    "loop L : distance = w between ground and A; initial x = 1, w = 1;",
    "distance of a turn and the time": "coordinates w; gravity (0, -9.81, 0); A | Sx(x), Sy(y) = 1; W | Rz(w) = Jz(2);"
    "loop L : distance = 1 + 0.1*w + 0.1*sin(t) between A and ground; initial x = 1;",
    "distance of a place": "coordinates w; A | Sx(x), Sy(y) = 1; W | Rz(w) = Jz(2); point P on W = (1, 0.5, 0);"
    "loop L : distance = 1 + 0.1*P.x^2 between ground and A; initial x = 1.1;",
    "distance between bodies of places": "coordinates b, w; A | Sx(x), Sy(y) = 1; B | Sx(b) = 1; W | Sx(1), Rz(w) = Jz(2);"
    "point P on W = (1, 0.5, 0); loop L : distance = 1 + 0.1*P.x^2 + 0.1*A.y between B and A; initial x = 1.1;",
    "distance in a chain": "coordinates w, b; A | Rz(x), Sx(1) = 1, 1, 1, 1; W ~ A | Sz(w) = 2, 1, 1, 1; B | Sx(2), Sy(b) = 1;"
    "C ~ W | Sx(y) = 1; initial w = 1, x = 0.5;"
    "loop L : distance = 1 + 0.3*w + 0.1*b^2 + 0.1*sin(t) between B and A at (0.1, 0, 0.2);",
}

#: Rates of inertia elements that are forms of speeds.
FORMS = {
    "form of speeds": "inertia i = 0.5 on x'*cos(y) + y'*x*sin(t) + t;",
    "form of quasi-velocities": "inertia i = 0.5 on u*x; quasi u = x' + y', w = y';",
    "form of quasi-velocities of points": "B ~ A | Rz(b) = 1, 1, 1, 1; coordinates b; point P on B = (1, 2, 0);"
    "inertia i = 0.3 on u*y + w*x; quasi u = P.vx, w = y' + x'*B.x, z = b';",
    "form of a turning": "coordinates b; C | Ball(b) = 1, 2, 3, 4; inertia i = 0.5 on b.wx*cos(x) + y'; initial y' = 1;",
    "form of a free body": "coordinates b; C | Free(b) = 1, 2, 3, 4; inertia i = 0.5 on b.wx*cos(y) + b.vy*x - 2*b.wy + b.vx;",
}
SOUND |= {name: f"gravity (1, 2, 3); A | Sx(x), Sy(y) = 1; {text}" for name, text in FORMS.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    quick_but(
        SOUND, ["distance in a chain", "distance between bodies of places", "form of quasi-velocities of points"]
    ),
)
def test_elements_alone_distances_of_coordinates_and_forms_are_certified(name: str) -> None:
    certificate = kn.verify(kn.loads("coordinates x, y;" + SOUND[name]), states=6, digits=0)
    assert certificate.holds, str(certificate)


def test_laws_of_bodies_do_not_speak_of_elements_alone() -> None:
    certificate = kn.verify(kn.loads("coordinates x, y;" + SOUND["elements"]), states=4, digits=0)
    reasons = dict(certificate.aside)
    for law in (
        "places, axes, velocities and accelerations are those of the frames",
        "reactions are the same about any place and in any axes",
    ):
        assert reasons[law] == "it speaks of bodies, and the model has none"


@pytest.mark.slow
def test_a_distance_of_places_takes_hold_of_the_ground() -> None:
    model = kn.loads("coordinates x, y;" + SOUND["distance between bodies of places"])
    reasons = dict(kn.verify(model, states=4, digits=0).aside)
    assert "takes hold of the ground" in reasons["the ground bears what changes the momenta"]
    assert "fixed sizes" in reasons["reactions of joints do no work"]


_WHEELS = """F | Rz(f) = 1, 1, 1, 1; A ~ F | R[0, {e}](a) = 1, 0.2, 0.3, 0.3; B ~ F | Rz(b) = 2, 0.2, 0.2, 0.3;
    coordinates f, a, b; loop g : gear = -1.5 between A axis (0, {e}) and B axis (0, 0, 1);"""

#: Sound models that many digits once condemned by the last one of doubles, or by quasi-velocities on constraints.
FINE = {
    "a fixed turn": """gravity (0.5, -9.81, 2); A | Rx(a) = 1, 0.1, 0.1, 0.1;
        B ~ A | Rz(0.5), Rx(b) = 1, 0.2, 0.2, 0.2, com = (0, 0.1, 0.2); coordinates a, b;""",
    "a fixed turn of one": "frame D | Rx(1); A ~ D | Ry(q), Sz(-1) = 1, 1, 1, 1; coordinates q; gravity 9.81;",
    "a joint of Hooke on a turned frame": """gravity (0.5, -9.81, 2); A | Rx(a) = 1, 0.1, 0.1, 0.1; frame D | Rz(0.5);
        B ~ D | Rx(b) = 1, 0.2, 0.2, 0.2; coordinates a, b; loop u : universal between A axis (0, 1, 0) and B axis (0, 0, 1);""",
    "quasi-velocities on a circle": """A | Sx(x), Sy(y) = 2; coordinates x, y; constraint c : x^2 + y^2 = 1;
        quasi u = x*y' - y*x'; initial x = 1;""",
    "quasi-velocities on a line": """gravity (0, -9.81, 0); A | Sx(x), Sy(y), Rz(a) = 1, 1, 1, 1; coordinates x, y, a;
        loop L : line between ground axis (1, 0, 0) and A at (0.2, 0, 0); quasi u = x', w = a';""",
    "a gear about an oblique axis": _WHEELS.format(e="1, 1"),
    "a gear about another": _WHEELS.format(e="3, 4"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", some(FINE, 2))
def test_sound_models_are_certified_in_many_digits(name: str) -> None:
    certificate = kn.verify(kn.loads(FINE[name]), states=4, digits=30)
    assert certificate.holds, str(certificate)


def test_initial_values_of_named_expressions_are_certified() -> None:
    """Another ground frame has no named expressions."""
    text = "gravity 9.81; parameters h = 0.4; let y = h/2; A | Rx(a) = 1, 1, 1, 1, com = (0, 0, h); initial a = atan2(-y, h);"
    certificate = kn.verify(kn.loads(text))
    assert certificate.holds, str(certificate)


def test_a_certificate_that_takes_minutes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "LARGE", 5)
    system = kn.loads("model two; gravity (0, -9.81, 0); A | Rz(a) = m(1), Jz(1); B ~ A | Sx(1), Rz(b) = m(1), Jz(1);")
    with pytest.warns(kn.KinetaWarning, match="'two': a link moves at up to 2 rates.*takes minutes.*fewer links"):
        kn.verify(system, states=1, digits=0)
