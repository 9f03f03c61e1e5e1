"""Every parameter acts, wherever a number may stand, and acts as in the text with the other number."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kineta as kn
from kineta.cli.check import notes
from kineta.cli.values import Settings, with_settings
from kineta.errors import KinetaError
from kineta.model.checks.unused_names import unused_declarations
from kineta.model.transformations.equivalents import with_values
from tests.mechanics.numbers import State, initial, numbers, same, states, touching
from tests.support import EXAMPLES, PILES, quick_but, reads_back, slow, some

#: What several of the models begin with.
BEGINNINGS = {
    "FREE;": "A | Sx(x), Sy(y), Sz(z), Rz(c), Rx(b), Rz(e) = 2, 0.02, 0.03, 0.04; "
    "coordinates x, y, z, c, b, e; initial z = 0.4, b = 1;",
    "TWO;": "A | Rz(q1), Rx(q2) = 1, 0.01, 0.02, 0.025; "
    "B ~ A | Sx(0.3), Ry(q3), Rz(q4) = 1, 0.02, 0.02, 0.03, com = (0.1, 0, 0.05);",
}
#: Small models with parameters in every place where a number may stand, and two values of each.
TEXTS = """
axis of a turn: i = 0.3 or 0.5, j = 0.2 or -0.1
    A | R[sin(i), j, cos(i)](q1) = 1, 0.01, 0.02, 0.025, com = (0.1, 0.2, 0);
axis of a turn in a coordinate plane: i = 0.3 or 0.5
    A | R[sin(i), 0, cos(i)](q1) = 1, 0.01, 0.02, 0.025, com = (0.1, 0.2, 0);
sense of a turn: i = 0.3 or -0.5
    A | R[0, i, 0](q1), Sx(0.3) = 1;
axis of a shift: i = 0.3 or 0.5, j = 0.2 or -0.1
    A | S[1, i, j](q1), Rx(q2), Sz(0.2) = 1;
axis of a turn that stays: i = 0.3 or 0.5, j = 0.2 or -0.1
    A | R[i, 1, j](0.7), Rz(q1), Sx(0.3) = 1;
axis of a shift that stays: i = 0.3 or 0.5, j = 0.2 or -0.1
    A | Rz(q1), S[i, 1, j](0.7) = 1; output A.position;
axis of a screw: i = 0.3 or 0.5, j = 0.2 or -0.1, k = 1 or 2
    A | R[i, j, 1](q1), S[i, j, 1](0.1*k*q1) = 1, 0.01, 0.02, 0.025;
axis in time: i = 0.3 or 0.5, j = 0.2 or -0.1
    A | R[i, j, 1](2*t), Sx(q1) = 1;
named axis: i = 0.3 or 0.5, j = 1 or 2
    let n = sin(i); A | R[n, 0, cos(i)*j](q1), Sx(0.3) = 1;
angle and shift: i = 0.3 or 0.5, j = 0.2 or -0.1, k = 0.3 or 0.4
    A | Rx(i), Sy(j), Rz(q1), Sx(k) = 1;
inertia: i = 1 or 2, j = 1 or 1.2, k = 1 or 1.1
    A | Rz(q1), Rx(q2) = i, 0.01*j, 0.02, 0.02*k, com = (0.1*j, k, 0);
products: i = 1 or 2, j = 1 or 1.2, k = 0.01 or 0.02
    A | Rz(q1), Rx(q2) = m(1), Jx(0.2), Jy(0.3), Jz(0.4), Jxy(0.01*i), Jxz(0.02*j), Jyz(k);
gravity: i = 1 or 2, j = 1 or 1.2, k = 9 or 8
    A | Rz(q1), Sx(0.3), Ry(q2), Sx(0.1) = 1; gravity (i, j, -k);
point: i = 1 or 2, j = 1 or 1.2, k = 9 or 8
    A | Rz(q1), Rx(q2) = 1, 0.1, 0.1, 0.1; point P on A = (i, j, k); force f at P = (1, 2, 3); output P.position;
force and couple: i = 1 or 2, j = 1 or 1.2, k = 9 or 8
    A | Rz(q1), Rx(q2) = 1, 0.1, 0.1, 0.1; force f on A at (i, 0, 1) = (j, 1, 0); couple c on A = (0, k, 1) in body;
springs and dampers: i = 10 or 12, j = 0.2 or 0.3, k = 0.5 or 0.4
    TWO; spring s = i, j between A at (k, 0, 0) and B at (0, k, 0); damper d = 0.1*k between A and B at (0, j, 0);
potential and inertia element: i = 1 or 1.2, j = 1 or 2, k = 1 or 2
    TWO; potential u = i*q1^2 + j*cos(q2); inertia r = 0.1*k on q1' + i*q2';
ratio of a gear: i = 2 or 3
    A | Rz(q1) = Jz(0.1); B | Sx(0.3), Rz(q2) = Jz(0.2); loop g : gear = i between A axis (0, 0, 1) and B axis (0, 0, 1);
axes of a gear: i = 0.2 or 0.3, j = 0.4 or 0.1
    A | R[i, 0, 1](q1) = 1, 0.01, 0.02, 0.025; B | Sx(0.3), R[0, j, 1](q2) = 1, 0.01, 0.02, 0.025;
    loop g : gear = 2 between A axis (i, 0, 1) and B axis (0, j, 1);
axes of a revolute: i = 0.3 or 0.5, j = 0.2 or -0.1, k = 0 or 0.1
    FREE; loop r : revolute between A at (0.2, 0, k) axis (i, j, 1) and ground at (0.5, 0, 0) axis (1, i, j);
axis of a line: i = 0.3 or 0.5, j = 0.2 or -0.1, k = 0.1 or 0.2
    TWO; loop r : line between ground axis (1, i, j) and B at (0.1, 0, k);
axis of a plane: i = 0.3 or 0.5, j = 0.2 or -0.1, k = 0.1 or 0.2
    TWO; loop r : plane between ground at (0, 0, k) axis (i, j, 1) and B at (0.1, 0, 0.2);
axes of a universal joint: i = 0.3 or 0.5, j = 0.2 or -0.1
    FREE; loop r : universal between A at (0.2, 0, 0) axis (i, 1, 0) and ground at (0.5, 0, 0) axis (1, 0, j);
axes of a cylindrical joint: i = 0.3 or 0.5, j = 0.2 or -0.1
    FREE; loop r : cylindrical between A at (0.2, 0, 0) axis (i, j, 1) and ground at (0.5, 0, 0) axis (0, i, 1);
axis of a prismatic joint: i = 0.3 or 0.5
    A | Sx(x), Sy(y), Sz(z), Rx(b), Ry(c), Rz(e) = 2, 0.02, 0.03, 0.04; coordinates x, y, z, b, c, e;
    loop r : prismatic between ground axis (1, i, 0) and A at (0.1, 0, 0);
distance: i = 0.5 or 0.6, j = 0.2 or -0.1, k = 0.1 or 0.2
    TWO; loop r : distance = i between ground at (0.5, j, 0) and B at (k, 0, 0);
rolling wheel: i = 0.3 or 0.1, j = 0.2 or -0.1, k = 0.4 or 0.3
    FREE; rolling r : wheel = k between A axis (i, 0, 1) and ground axis (0, j, 1);
rolling torus and ellipsoid: i = 0.3 or 0.4, j = 0.2 or 0.3, k = 0.1 or 0.2
    FREE; rolling r : ellipsoid = i, j, 0.3 between A at (0, 0, k) and ground at (0, 0, k) axis (k, i, 1);
contact: i = 0.3 or 0.1, j = 1 or 1.2, k = 0.1 or 0.2
    FREE;
    contact r : point between A at (0, k, 0) and ground at (0, 0, k) axis (-sin(i), 0, cos(i)),
    restitution = 0.1*j, friction = 0.3*j, static = 0.5*j;
contact of a disk: i = 0.3 or 0.1, j = 0.2 or -0.1, k = 0.4 or 0.3
    FREE; contact r : disk = k between A axis (i, 1, 0) and ground axis (0, j, 1), friction = 0.3, smooth = 0.1*k;
ground of a height: i = 0.3 or 0.1, j = 0.2 or -0.1, k = 0.1 or 0.2
    FREE; point P on A = (0, 0.1, 0);
    contact r : point between P and ground at (0, 0, k) axis (i, 0, 1) height 0.1*sin(j*P.x), friction = 0.3;
limit and friction: i = 1 or 2, j = 0.2 or 0.3, k = 0.4 or 0.3
    TWO; limit l : -i <= q1 <= 2*i, restitution = j; friction f = k, static = 2*k on q2; friction h = k, smooth = j on q3;
switch: i = 1 or 2, j = 0 or 0, k = 3 or 4, s = 0 or 0
    TWO; when w : q1 >= i and s == j : s = k, q1' = -i*q1';
constraint and quasi-velocity: i = 0.3 or 0.5, j = 1 or 2, k = 0.1 or 0.2
    A | Sx(x), Sy(y), Rz(c) = m(1), Jz(0.1); constraint e : x'*sin(c) + i*c' = j*y'*cos(c); quasi u = x' + k*c', w = c';
program: i = 0.3 or 0.5, j = 1 or 2, k = 1 or 2
    TWO; program p : q1 = i*sin(j*t); control least on q1' weight k, q2' weight 1;
start and output: i = 0.3 or 0.5, j = 1 or 2, k = 1 or 2
    TWO; initial q1 = i, q2' = j*k; output o = k*q1 + i;
quaternion at the start: i = 0.3 or 0.5, j = 1 or 2
    A | Ball(b) = 1, 0.1, 0.1, 0.1; initial b.qw = cos(i/2), b.qx = sin(i/2), b.wz = j;
"""


def models(texts: str) -> dict[str, tuple[str, dict[str, tuple[str, str]]]]:
    """The text of each model and the two values of each parameter, by what it is a model of."""
    found = {}
    for head, body in re.findall(r"^(\w.*)\n((?:    .*\n)+)", texts, re.MULTILINE):
        name, _, values = head.partition(": ")
        for word, beginning in BEGINNINGS.items():
            body = body.replace(word, beginning)
        found[name] = body, {n: (one, other) for n, one, other in re.findall(r"(\w+) = (\S+) or ([^\s,]+)", values)}
    return found


MODELS = models(TEXTS)
#: Parameters that nothing at a single state shows: those of guards, and the sign of a number.
GUARDED = {"switch": {"j", "s"}, "sense of a turn": {"i"}}


def written(name: str, which: int, word: str = "parameters") -> str:
    text, values = MODELS[name]
    return f"{word} {', '.join(f'{n} = {x[which]}' for n, x in values.items())}; {text}"


@pytest.mark.slow
@pytest.mark.parametrize("name", some(MODELS, 4))
def test_a_parameter_acts_as_the_number_in_the_text(name: str) -> None:
    """By ``--set``, by ``p=``, as constants, and as numbers folded by hand."""
    values = {n: float(x[1]) for n, x in MODELS[name][1].items()}
    model, other = kn.loads(written(name, 0), "m"), kn.loads(written(name, 1), "m")
    reads_back(model)
    assert with_settings(model, Settings([f"{n}={x!r}" for n, x in values.items()])) == other
    at = states(other, 3)
    expected = numbers(other, at)
    same(numbers(model, at, values), expected)
    np.testing.assert_allclose(initial(model, values), initial(other), rtol=0, atol=1e-15)
    np.testing.assert_allclose(touching(model, at, values), touching(other, at), rtol=0, atol=1e-12)
    if not other.switches:  # which set no constant
        folded = kn.loads(written(name, 1, "constants"), "m")
        same(numbers(folded, at), expected, 1e-11)
        np.testing.assert_allclose(touching(folded, at), touching(other, at), rtol=0, atol=1e-12)
        constants = kn.loads(written(name, 0, "constants"), "m")
        assert with_settings(constants, Settings([f"{n}={x!r}" for n, x in values.items()])) == folded


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    quick_but(
        MODELS, sorted({*sorted(MODELS)[::2], *sorted(MODELS)[1::4], "axes of a revolute", "distance", "rolling wheel"})
    ),
)
def test_every_parameter_of_a_place_acts(name: str) -> None:
    model = kn.loads(written(name, 0))
    assert not list(unused_declarations(model))
    at = states(model, 3)
    assert idle(model, at) <= GUARDED.get(name, set())


#: Examples with which a test of one in three takes a second.
LONGER = ("andrews", "trotting_quadruped", "wheelset")
EXAMPLE_NAMES = sorted({p.stem for p in EXAMPLES.glob("*.kin")} - PILES)


def idle(system: kn.System, at: list[State]) -> set[str]:
    """Names of the parameters that change nothing at the states *at*, and that no program of motion names."""
    values = {p.name: 1.0 if p.value is None else p.value for p in system.parameters if not p.fixed}
    own, start, touch = numbers(system, at, values), initial(system, values), touching(system, at, values)
    assert np.isfinite(own["forward"]).all()
    controlled = [x for p in system.expanded.programs for x in p.expressions] + [*system.expanded.control.expressions]
    found = set(values) - {n for x in controlled for n in x.symbols()}
    for name in [*found]:
        p = {**values, name: values[name] * 1.001 + 1e-4 * (values[name] == 0)}
        try:
            moved, begun = numbers(system, at, p), initial(system, p)
        except KinetaError:
            found.remove(name)  # such as an initial quaternion that is none any more
            continue
        pairs = [(begun, start), (touching(system, at, p), touch), *((x, own[n]) for n, x in moved.items())]
        if not all(np.array_equal(x, y, equal_nan=True) for x, y in pairs):
            found.remove(name)
    return found


#: Examples whose equations are derived in a second, and the distance from the start at which the equations of others have values
#: and their compliant contacts touch, or a car is on its bump.
QUICK = ("appell_hamel", "bouncing_ball", "double_pendulum", "sliding_block", "spinning_top")
NEAR = {"wheelset": 1e-9, "yielding_ground": 2.0, "quarter_car": 3.0}


@pytest.mark.parametrize("name", [*QUICK, *slow(n for n in EXAMPLE_NAMES if n not in QUICK)])
@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
def test_every_parameter_of_every_example_acts_or_is_reported(name: str) -> None:
    """And by ``p=`` as in the text: the equations, the start, what may touch."""
    system = kn.load(EXAMPLES / f"{name}.kin")
    at = states(system, 3, off=NEAR.get(name, 0.1))
    reported = " ".join(notes(system))
    for own in idle(system, at):
        assert f"'{own}'" in reported
    values = {p.name: p.value * 1.002 for p in system.parameters if p.value is not None and not p.fixed}
    try:
        other = with_values(system, values)
    except KinetaError:
        return  # the values are no longer those of a body
    same(numbers(system, at, values), numbers(other, at), 1e-10)
    np.testing.assert_allclose(initial(system, values), initial(other), rtol=0, atol=1e-12)
    np.testing.assert_allclose(touching(system, at, values), touching(other, at), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", quick_but(EXAMPLE_NAMES, [*EXAMPLE_NAMES[1::3], *EXAMPLE_NAMES[2::3], *LONGER]))
def test_set_is_the_edited_file_of_every_example(name: str) -> None:
    """Parameter by parameter, constants too: the system is the same, so all that follows from it is."""
    path = EXAMPLES / f"{name}.kin"
    text = path.read_text(encoding="utf-8")
    system = kn.load(path)
    for own in system.parameters:
        if own.value is None or ("[" in own.name and own.name not in text):  # one of a loop has no text of its own
            continue
        value = own.value * 1.01 + 0.01 * (own.value == 0)
        changed, times = re.subn(
            rf"(?m)(^|[\s,]){own.name} = [^,;\n]*(?=[,;\n])", rf"\g<1>{own.name} = {value!r}", text, count=1
        )
        assert times == 1, own.name
        try:
            edited = kn.loads(changed, str(path))
        except KinetaError as error:
            with pytest.raises(type(error)):
                with_settings(system, Settings([f"{own.name}={value!r}"]))
        else:
            assert with_settings(system, Settings([f"{own.name}={value!r}"])) == edited, own.name
