"""Exported runs by time stepping: compiled without a warning, the motions of ``kn.simulate`` by ``moreau`` to the last bit."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.contact_records import GOES_ON
from kineta.model.contacts.mutual_contact import pair_forces
from kineta.results.impacts import Impact
from kineta.tasks.export.run_names import CONTACT_OUTCOMES, STEP_OUTCOMES
from tests.kernels.wasm_machine import Instance
from tests.support import slow
from tests.tasks.export.test_exported_run import (
    CHANGED,
    COMPILER,
    INCONSISTENT,
    OUT_OF_STEPS,
    REACHED,
    InC,
    boxes,
    example,
    lying_fourbar,
    same,
)
from tests.tasks.export.test_wasm_module import check_motion, told
from tests.tasks.export.unfused import unfused

in_c = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

#: A ball, boxes on corners, a closed mechanism that comes to lie, dry friction, balls that strike each other, stiff springs.
BALLS = """model balls; gravity 9.81; parameters r = 0.1, e = 0.6; for i in 1..3 : B[i] | Sx(x[i]), Sz(z[i]) = i;
for i in 1..3 : contact floor[i] : ball = r between B[i] and ground axis (0, 0, 1), restitution = 0.3, friction = 0.2;
contact pile : ball = r among B[1..3], restitution = e, friction = 0.3;
for i in 1..3 : initial z[i] = 0.1 + 0.25*(i - 1), x[i] = 0.03*(i - 1), z[i]' = -1;"""
SPRUNG = kn.loads("""model sprung; gravity 9.81; parameters k = 1e6, c = 20; A | Sz(z) = 1; B | Sz(h) = 0.5;
spring s = k, 0.4 between A and B; damper d = c between A and B; contact floor : point between B and ground axis (0, 0, 1);
initial z = 0.9, h = 0.5; output lambda.floor.n;""")
MOTIONS = [
    *slow(
        [
            (example("bouncing_ball"), 1.2),
            (example("thrown_box"), 1.5),
            (example("rocking_block"), 1.5),
            (example("friction_oscillator"), 4.0),
            (lying_fourbar(), 2.0),
            (kn.loads(BALLS), 1.0),
            (SPRUNG, 0.5),
        ]
    ),
]


def put_impacts(run: InC, found: dict[float, Impact]) -> None:
    """Put the impacts at the present time to those *found*, by number: what goes on in a step is the whole so far."""
    rows = ctypes.POINTER(ctypes.c_double)()
    count = run.function("impacts")(run.run, ctypes.byref(rows))
    for own, how, number in zip(run.impacts(), rows[7 : 10 * count : 10], rows[8 : 10 * count : 10], strict=True):
        assert (number in found) == (int(how) == GOES_ON)
        found[number] = Impact(found[number].t if number in found else own[0], *own[1:])


@in_c
@pytest.mark.parametrize(("system", "end"), MOTIONS, ids=lambda x: getattr(x, "name", ""))
def test_steps_in_c_are_those_of_simulate_to_the_last_bit(tmp_path: Path, system: kn.System, end: float) -> None:
    equations = kn.derive(system)
    # Samples of forces keep bodies that do not depend on each other in one run.
    coupled = (
        {} if system.name in ("bouncing_ball", "balls") else {"tau": kn.sampled(np.zeros((2, system.nv)), 1 / end)}
    )
    with unfused():
        result = kn.simulate(equations, end, samples=21, method="moreau", **coupled)
    run = InC(tmp_path, kn.export_run(equations, end, method="moreau"), system.name)
    same(run, run.simulate(21), result)
    assert run.begin() == REACHED
    changes, impacts = list[Any](), dict[float, Impact]()
    while (status := run.advance(end)) == CHANGED:
        changes += run.changes()
        put_impacts(run, impacts)
    assert status == REACHED
    assert changes == [*result.changes]
    assert [*impacts.values()] == [*result.impacts]


@in_c
@pytest.mark.slow
def test_ten_boxes_are_those_of_simulate_to_the_tolerance_of_impulses(tmp_path: Path) -> None:
    """In one run, of which ``simulate`` makes ten, since they do not touch each other."""
    equations = kn.derive(boxes(10))
    with unfused():
        result = kn.simulate(equations, 0.35, samples=11, method="moreau")
    table = InC(tmp_path, kn.export_run(equations, 0.35, method="moreau"), "boxes").simulate(11)
    # Impulses of islands are found to 1e-8 of the fastest of all bodies, and a corner multiplies what is left at each impact.
    np.testing.assert_allclose(table[:, 1 : 1 + len(result.y)].T, result.y, rtol=1e-6, atol=1e-5)
    assert len(result.impacts) > 10


@pytest.mark.slow
@in_c
def test_parameters_steps_and_starts_of_steps_are_given(tmp_path: Path) -> None:
    """The program sets them in the structure of the problem, whose first number is the first parameter."""
    system = example("bouncing_ball")
    p = dict(system.parameters) | {"e": 0.5}
    exported = kn.export_run(system, 1.0, method="moreau")
    header = exported.files["bouncing_ball_run.h"].decode()
    assert "rtol" not in header
    run = InC(tmp_path, exported, "bouncing_ball")
    numbers = np.frombuffer(run.problem, dtype=np.float64)
    at = len(system.parameter_names)
    numbers[list(system.parameter_names).index("e")] = 0.5
    q, v = numbers[at : at + 2], numbers[at + 2 : at + 4]
    q[:], v[:] = [0.1, 0.3], [0.5, -1.0]
    scalars = numbers[at + 4 + 2 :]  # behind tau: t0, t1, max_step
    scalars[2] = 2e-3
    found = run.simulate(5)
    with unfused():
        result = kn.simulate(system, 1.0, samples=5, method="moreau", q=[0.1, 0.3], v=[0.5, -1.0], p=p, max_step=2e-3)
    np.testing.assert_allclose(found[:, 1:5].T, result.y[:4], rtol=1e-12, atol=1e-12)
    assert run.counts() == [500, 0, 500]
    for size in (0.0, -1.0, 1e-300, np.nan, np.inf):
        scalars[2] = size
        assert run.begin() == STEP_OUTCOMES["UNCOUNTABLE"][0]
    scalars[2] = 1e-3
    q[1] = -0.2
    assert run.begin() == CONTACT_OUTCOMES["PENETRATES"][0]
    scalars[1] = -1.0
    assert run.begin() == CONTACT_OUTCOMES["BACKWARDS"][0]


@pytest.mark.slow
@in_c
def test_forces_are_held_in_steps(tmp_path: Path) -> None:
    """A weight that is pushed from one sample to the next, as by ``kn.simulate``."""
    system = example("bouncing_ball")
    force = [[0.0, 0.0], [3.0, 5.0], [-2.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    result = kn.simulate(system, 1.0, samples=6, method="moreau", tau=kn.sampled(force, 5.0))
    run = InC(tmp_path, kn.export_run(system, 1.0, method="moreau"), "bouncing_ball")
    assert run.begin() == REACHED
    for t, y, tau in zip(result.t.tolist(), result.y.T, [*force, force[-1]], strict=True):
        while (status := run.advance(t)) == CHANGED:
            pass
        assert status == REACHED
        np.testing.assert_allclose(run.state()[:4], y[:4], rtol=1e-9, atol=1e-9)
        assert run.function("hold")(run.run, (ctypes.c_double * 2)(*tau)) == REACHED


@in_c
@pytest.mark.slow
def test_starts_of_closed_mechanisms_are_brought_onto_constraints(tmp_path: Path) -> None:
    system = lying_fourbar()
    exported = kn.export_run(system, 0.2, method="moreau", max_steps=150)
    run = InC(tmp_path, exported, "fourbar")
    numbers, at = np.frombuffer(run.problem, dtype=np.float64), len(system.parameter_names)
    q = numbers[at : at + system.nq]
    q += [0.01, -0.02, 0.01]
    given = q.tolist()
    assert run.begin() == REACHED
    start = run.state()[: 2 * system.nq]
    assert start[: system.nq] != given
    with unfused():
        result = kn.simulate(system, 0.1, method="moreau", q=start[: system.nq], v=start[system.nq :])
    assert run.advance(0.1) == REACHED
    np.testing.assert_allclose(run.state()[: 2 * system.nq], result.y[:, -1], rtol=1e-8, atol=1e-8)
    assert run.advance(0.2) == OUT_OF_STEPS
    q[0] += 300.0
    numbers[list(system.parameter_names).index("c")] = 1e3
    assert run.begin() == INCONSISTENT


@pytest.mark.parametrize(
    ("system", "end"),
    slow([(example("bouncing_ball"), 1.2), (lying_fourbar(), 0.6)]),
    ids=lambda x: getattr(x, "name", ""),
)
def test_steps_in_webassembly_are_those_of_simulate_to_the_last_bit(system: kn.System, end: float) -> None:
    equations = kn.derive(system)
    with unfused():
        result = kn.simulate(equations, end, samples=5, method="moreau")
    run = kn.export_run(equations, end, language="wasm", method="moreau")
    info, instance = told(run), Instance(run.files[f"{system.name}_run.wasm"])
    places = info["places"]
    assert "rtol" not in places
    assert instance.call("begin", places["root"]) == REACHED
    check_motion(instance, places, len(run.states), result)


#: A wall that a ball strikes and a rod falls on; balls that fall onto each other; a crank that strikes stones.
WALL = """model wall; gravity 9.81; constants rows = 3, across = 2;
parameters a = 20 cm, b = 10 cm, c = 8 cm, m = 3 kg, r = 12 cm, mu = 0.6, e = 0.1;
for i in 1..rows*across : Brick[i] | Free(b[i]) = m, m*(b^2 + c^2)/12, m*(a^2 + c^2)/12, m*(a^2 + b^2)/12;
Ball | Free(f) = 5, 0.03, 0.03, 0.03; Rod | Free(s) = 1, 0.02, 0.001, 0.02; output Ball.x;
contact wall : box = a, b, c among Brick[1..rows*across] and capsule = 4 cm, a among Rod axis (0, 2, 0)
    and ball = r among Ball and plane among ground axis (0, 0, 1), friction = mu, restitution = e;
for i in 1..across : for k in 0..rows - 1 :
    initial b[i + across*k].x = (a + 1 mm)*(i + 0.25*mod(k, 2)), b[i + across*k].z = c*(k + 0.5);
initial f.x = 0.3, f.y = -0.6, f.z = 0.2, f.vy = 8, s.z = 0.5, s.x = 0.3, s.y = 0.3;"""
PILE = """model pile; gravity 9.81; constants N = 12; parameters r = 10 cm, mu = 0.5, e = 0.3;
for i in 1..N : Ball[i] | Free(b[i]) = 1, 0.004, 0.004, 0.004;
for i in 1..N : contact floor[i] : ball = r between Ball[i] and ground axis (0, 0, 1), friction = mu;
contact pile : ball = r among Ball[1..N], friction = mu, restitution = e;
for i in 1..N : initial b[i].x = 0.02*sin(7*i), b[i].y = 0.02*cos(5*i), b[i].z = 0.11 + 0.21*(i - 1);"""


def crank() -> kn.System:
    text = """parameters r = 5 cm; coordinates theta, beta, gamma, x[1], y[1], x[2], y[2];
    for i in 1..2 : Stone[i] | Sx(x[i]), Sy(y[i]) = i; contact hit : ball = r among Coupler, Stone[1..2], friction = 0.2;
    initial x[1] = 0.1, y[1] = 0.9, y[1]' = 0, x[2] = 0.1, y[2] = 1.2, y[2]' = -2;"""
    four = kn.dumps(example("fourbar")).replace("coordinates theta, beta, gamma;", "")
    kept = "\n".join(line for line in four.splitlines() if "energy" not in line)
    return kn.loads(kept + text)


@in_c
@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "end", "strikes"),
    [(kn.loads(WALL), 0.3, 10), (kn.loads(PILE), 0.4, 20), (crank(), 0.5, 1)],
    ids=lambda x: getattr(x, "name", ""),
)
def test_bodies_that_touch_each_other_are_those_of_simulate_to_the_last_bit(
    tmp_path: Path, system: kn.System, end: float, strikes: int
) -> None:
    equations = kn.derive(system)
    with unfused():
        result = kn.simulate(equations, end, samples=21, method="moreau")
    exported = kn.export_run(equations, end, method="moreau")
    assert tuple(exported.states) == (*system.q_names, *system.v_names)
    run = InC(tmp_path, exported, system.name, "-O1")
    run.run, run.problem = (ctypes.create_string_buffer(2**25) for _ in range(2))
    run.function("defaults")(run.problem)
    table = run.simulate(21)
    n = len(result.y)
    assert np.ascontiguousarray(table[:, 1 : 1 + n].T).tobytes() == np.ascontiguousarray(result.y).tobytes()
    np.testing.assert_allclose(table[:, 1 + n], result.kinetic_energy, rtol=1e-14, atol=1e-14)
    pairs = {*pair_forces(system)}  # are series of runs by Python alone
    for name in result.outputs.keys() - pairs:
        x = result[name]
        np.testing.assert_array_equal(table[:, 1 + n + exported.observed.index(name)], x, err_msg=name)
    assert run.counts() == [result.steps, 0, result.nfev]
    assert run.begin() == REACHED
    changes, impacts = list[Any](), dict[float, Impact]()
    while (status := run.advance(end)) == CHANGED:
        changes += run.changes()
        put_impacts(run, impacts)
    assert status == REACHED
    assert changes == [*result.changes]
    assert [*impacts.values()] == [*result.impacts]
    assert len(impacts) >= strikes


@in_c
@pytest.mark.slow
def test_sizes_and_laws_of_bodies_that_touch_each_other_are_parameters(tmp_path: Path) -> None:
    """A pile of smaller balls with another law; shapes without size, and such that overlap, are refused."""
    system = kn.loads(PILE)
    run = InC(tmp_path, kn.export_run(system, 0.3), "pile")
    numbers, names = np.frombuffer(run.problem, dtype=np.float64), list(system.parameter_names)
    p = {"r": 0.09, "mu": 0.2, "e": 0.6}
    for name, x in p.items():
        numbers[names.index(name)] = x
    result = kn.simulate(system, 0.3, samples=4, p=p)
    np.testing.assert_allclose(run.simulate(4)[:, 1 : 1 + len(result.y)].T, result.y, rtol=1e-8, atol=1e-8)
    numbers[names.index("r")] = 0.2
    assert run.begin() == CONTACT_OUTCOMES["PENETRATES"][0]
    numbers[names.index("r")] = -0.1
    assert run.begin() == CONTACT_OUTCOMES["INADMISSIBLE"][0]


@pytest.mark.slow
def test_bodies_without_names_are_refused_and_outputs_over_several_keep_pairs_apart() -> None:
    with pytest.raises(
        kn.ArgumentError, match=r"expected at most 100 shapes that may touch each other in exported code, found 101"
    ):
        kn.export_run(kn.loads(PILE.replace("N = 12", "N = 101").replace("0.21*(i - 1)", "(i - 1)")))
    few = kn.loads(PILE.replace("N = 12", "N = 2") + "output far = b[1].x - b[2].x;")
    assert kn.export_run(few, 0.1, method="moreau").observed[2:3] == ["far"]


def test_what_steps_do_not_look_for_is_a_sentence() -> None:
    ball = example("bouncing_ball")
    with pytest.raises(
        kn.ArgumentError, match=r"'bouncing_ball': code of method 'moreau' looks for no events and switches"
    ):
        kn.export_run(ball, method="moreau", events=[kn.symbol("x")])
    switched = kn.loads(kn.dumps(ball) + "when on : x >= 1 : stop;")
    with pytest.raises(kn.ArgumentError, match=r"found switch 'on'. Leave them out, or export 'dop853'."):
        kn.export_run(switched, method="moreau")
    with pytest.raises(kn.ArgumentError, match="method 'moreau' is for models with contacts, limits or dry friction"):
        kn.export_run(example("double_pendulum"), method="moreau")
    with pytest.raises(kn.ArgumentError, match=r"found 'moro'\. Did you mean 'moreau'\?"):
        kn.export_run(ball, method="moro")
    with pytest.raises(kn.SimulationError, match="works forwards in time only"):
        kn.export_run(ball, (1.0, 0.0), method="moreau")
