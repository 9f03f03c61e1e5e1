"""Exported runs in C: compiled without a warning, and the motions of ``kn.simulate`` to the last bit."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.tasks.export.run_names import CONTACT_OUTCOMES, OUTCOMES, PROGRAM_OUTCOMES
from tests.models import COMPASS
from tests.support import EXAMPLES, ROOT, quick_but, slow
from tests.tasks.export.unfused import unfused

COMPILER = shutil.which("cc") or shutil.which("gcc")
FLAGS = ["-std=c99", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic"]
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

REACHED, ENDED, EVENT, OUT_OF_STEPS, INCONSISTENT, CHANGED, UNCONTROLLED = 0, 1, 2, 5, 7, 8, 20
q1, q2, q3 = map(kn.symbol, ("q1", "q2", "q3"))


class InC:
    """A run compiled in a folder, and its memory."""

    def __init__(self, folder: Path, run: kn.ExportedRun, name: str, optimise: str = "-O0") -> None:
        run.save(folder)
        assert COMPILER is not None
        library = folder / f"{name}.so"
        source = folder / f"{name}_run.c"
        subprocess.run([COMPILER, *FLAGS, optimise, "-fPIC", "-shared", source, "-o", library, "-lm"], check=True)
        self.library, self.name = ctypes.CDLL(str(library)), name
        for word in ("time", "state", "observe"):
            self.function(word).restype = ctypes.c_double if word == "time" else ctypes.POINTER(ctypes.c_double)
        self.function("advance").argtypes = [ctypes.c_void_p, ctypes.c_double]
        self.names, self.changing = [*run.states, *run.observed], [*run.contacts, *run.switches]
        self.run, self.problem = (ctypes.create_string_buffer(2**23) for _ in range(2))
        self.function("defaults")(self.problem)

    def function(self, word: str) -> Any:
        return getattr(self.library, f"{self.name}_{word}")

    def begin(self) -> int:
        return int(self.function("begin")(self.run, self.problem))

    def advance(self, t: float) -> int:
        return int(self.function("advance")(self.run, t))

    def state(self) -> list[float]:
        return list(self.function("state")(self.run)[: len(self.names)])

    def changes(self) -> list[tuple[float, str]]:
        """The changes of contacts at the present time, as those of a result."""
        self.function("change").restype = ctypes.c_char_p
        t, count = self.function("time")(self.run), self.function("changes")(self.run)
        contacts = [self.changing[self.function("changed_contact")(self.run, k)] for k in range(count)]
        return [(t, f"{c} {self.function('change')(self.run, k).decode()}") for k, c in enumerate(contacts)]

    def impacts(self) -> list[tuple[Any, ...]]:
        """The impacts of these changes, as those of a result."""
        rows = ctypes.POINTER(ctypes.c_double)()
        count = self.function("impacts")(self.run, ctypes.byref(rows))
        t = self.function("time")(self.run)
        found = np.array(rows[: 10 * count]).reshape(count, 10).tolist()
        return [(t, self.changing[int(row[0])], *row[1:7]) for row in found]

    def counts(self) -> list[int]:
        found = (ctypes.c_int64 * 3)()
        self.function("counts")(self.run, found)
        return list(found)

    def simulate(self, samples: int) -> np.ndarray:
        """The table of a whole run."""
        table, rows = np.zeros((samples, 1 + len(self.names))), ctypes.c_int()
        status = self.function("simulate")(
            self.run, self.problem, samples, table.ctypes.data_as(ctypes.c_void_p), ctypes.byref(rows)
        )
        assert status in (REACHED, ENDED)
        return table[: rows.value]


def same(run: InC, table: np.ndarray, result: kn.Result) -> None:
    """Assert that a table has the bits of a result."""
    assert table[:, 0].tobytes() == result.t.tobytes()
    n = len(result.y)
    assert np.ascontiguousarray(table[:, 1 : 1 + n].T).tobytes() == np.ascontiguousarray(result.y).tobytes()
    series = result.outputs | {"kinetic_energy": result.kinetic_energy, "potential_energy": result.potential_energy}
    for k, name in enumerate(run.names[n:], 1 + n):
        np.testing.assert_array_equal(table[:, k], series[name], err_msg=name)
    assert run.counts() == [result.steps, result.rejected, result.nfev]


#: A tree with events, a closed mechanism, quaternions, rolling, quasi-velocities, redundant constraints, another method,
#: programs of motion of several orders.
RUNS = [
    ("fourbar", 2.0, [], "dop853"),
    *slow(
        [
            ("double_pendulum", 3.0, [q1, kn.event(q2, direction=1)], "dopri5"),
            ("puma560", 2.0, [q2, q3], "dop853"),
            ("spinning_top", 0.5, [], "dop853"),
            ("skate", 2.0, [kn.symbol("x")], "dop853"),
            ("euler_top", 2.0, [], "dop853"),
            ("bricard", 1.0, [], "dop853"),
            ("rolling_torus", 1.0, [], "dop853"),
            ("satellite_turn", 5.0, [kn.symbol("b.wx")], "dop853"),
            ("soft_landing", 1.0, [], "dopri5"),
            ("tracking_arm", 1.0, [], "dop853"),
        ]
    ),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")
@pytest.mark.parametrize(("name", "end", "events", "method"), RUNS)
def test_a_run_in_c_is_that_of_simulate_to_the_last_bit(
    tmp_path: Path, name: str, end: float, events: Sequence[Any], method: str
) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{name}.kin"))
    with unfused():
        result = kn.simulate(equations, end, samples=21, events=events, method=method)
    run = InC(tmp_path, kn.export_run(equations, end, events=events, method=method), name)
    table = run.simulate(21)
    same(run, table, result)
    assert run.begin() == REACHED
    zeros: list[list[tuple[float, list[float]]]] = [[] for _ in events]
    while (status := run.advance(end)) == EVENT:
        zeros[run.function("event")(run.run)].append((run.function("time")(run.run), run.state()[: len(result.y)]))
    assert status == REACHED
    for found, t, y in zip(zeros, result.t_events, result.y_events, strict=True):
        assert [t for t, _ in found] == t.tolist()
        assert [y for _, y in found] == y.tolist()
    # The bits are compared above, with operations rounded as in C; fused operations differ by rounding, which motions magnify.
    np.testing.assert_allclose(result.y, kn.simulate(equations, end, samples=21, method=method).y, rtol=1e-7, atol=1e-8)


#: Pulses of the time and of a place, a short contact, and a table, of parameters.
PULSES = """
model pulses;
parameters a = 0.5, w = 0.01, k = 1e6;
coordinates x;
Car | Sx(x) = 1;
state z : z' = if(x > 0.2 and x < 0.2003, 100, 0) + table(t; (0, 0), (1, 0), (1.001, 9), (1.002, 0));
force f = if(t > a and t < a + w, 10, 0) + max(0, -k*(x - 0.1)) + if(mod(t, 0.3) < 0.001, 5, 0) on x;
initial x = 0.15, x' = -0.4;
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", quick_but(["dop853", "dopri5"], ["dop853"]))
def test_kinks_in_c_are_those_of_simulate(tmp_path: Path, method: str) -> None:
    """Steps end at the same kinks, at other parameters, too."""
    equations = kn.derive(kn.loads(PULSES))
    with unfused():
        result = kn.simulate(equations, 1.5, samples=21, method=method)
    run = InC(tmp_path, kn.export_run(equations, 1.5, method=method), "pulses")
    same(run, run.simulate(21), result)


#: Two relays, each of which feels the other, a choice by a state, a level and an angle: motions slide, let go and hold again.
SLIDING = """
model relays;
coordinates x, y;
Car | Sx(x), Sy(y) = 1;
let a = sign(x'); let b = sign(y');
state z : z' = if(z < 0.3, 1, -0.5) + 0.2*sin(3*t);
state n : n' = 2*sin(2*t) - floor(3*n);
state u : u' = atan2(-u, z - 2) + 4*cos(t);
force f = -a - 0.3*b + 1.4*sin(t) on x;
force g = 0.2*a - b + 1.5*cos(1.7*t) on y;
initial x' = 1, y' = 0.5;
output a, b;
"""


@pytest.mark.slow
def test_motions_slide_in_c_as_those_of_simulate(tmp_path: Path) -> None:
    """Along one surface and along two."""
    equations = kn.derive(kn.loads(SLIDING))
    with unfused():
        result = kn.simulate(equations, 10.0, samples=41)
    assert len(result.changes) > 6
    run = InC(tmp_path, kn.export_run(equations, 10.0), "relays")
    same(run, run.simulate(41), result)


@pytest.mark.slow
def test_an_event_ends_a_run(tmp_path: Path) -> None:
    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    events = [kn.event(q1, terminal=2), q2]
    with unfused():
        result = kn.simulate(equations, 10.0, samples=101, events=events)
    run = InC(tmp_path, kn.export_run(equations, events=events), "double_pendulum")
    table = run.simulate(101)
    same(run, table, result)
    assert len(table) < 101
    assert run.function("event")(run.run) == 0
    assert run.advance(10.0) == ENDED
    assert run.state()[:4] == table[-1, 1:5].tolist()


@pytest.mark.slow
def test_forces_are_held_between_samples(tmp_path: Path) -> None:
    """A controller in C, and the same one in Python."""

    def torques(q: Sequence[float], v: Sequence[float]) -> list[float]:
        return [-20.0 * q[0] - 5.0 * v[0], -3.0 * v[1]]

    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    result = kn.simulate(
        equations, 1.0, samples=21, tau=kn.sampled(lambda t, q, v: torques(q, v), 20.0), rtol=1e-11, atol=1e-13
    )
    run = InC(tmp_path, kn.export_run(equations, 1.0, rtol=1e-11, atol=1e-13), "double_pendulum")
    assert run.begin() == REACHED
    for t, y in zip(result.t.tolist(), result.y.T, strict=True):
        assert run.advance(t) == REACHED
        state = run.state()[:4]
        np.testing.assert_allclose(state, y, rtol=1e-8, atol=1e-9)
        run.function("hold")(run.run, (ctypes.c_double * 2)(*torques(state[:2], state[2:])))


def test_zeros_that_were_not_reported_are_not_dropped_by_what_is_held(tmp_path: Path) -> None:
    """Two at one time, and one behind it, which ends the run, later than without the force."""
    x = kn.symbol("x")
    system = kn.loads("model zeros; M | Sx(x) = 1; coordinates x; initial x' = 1;")
    events = [x - 0.5, 2 * x - 1, kn.event(x - 0.6, terminal=1)]
    run = InC(tmp_path, kn.export_run(system, 4.0, events=events), "zeros")
    assert run.begin() == REACHED
    found = []
    for _ in range(2):
        assert run.advance(4.0) == EVENT
        found.append((run.function("event")(run.run), run.function("time")(run.run)))
        run.function("hold")(run.run, (ctypes.c_double * 1)(-1.0))
    assert found == [(0, pytest.approx(0.5)), (1, pytest.approx(0.5))]
    assert run.advance(4.0) == ENDED
    assert run.function("time")(run.run) == pytest.approx(1.5 - np.sqrt(0.8), abs=1e-12)
    assert run.state()[0] == pytest.approx(0.6, abs=1e-12)


@pytest.mark.slow
def test_a_force_that_is_held_from_a_sample_on_sets_off_a_switch(tmp_path: Path) -> None:
    """A weight of 7 N is laid on 2 kg at t = 0.5 s; at once, since a force jumps over the threshold."""
    text = """model scale; gravity 9.81; parameters n = 0; B | Sx(x), Sz(z) = 2; coordinates x, z; output n;
    contact floor : point between B and ground axis (0, 0, 1); when heavy : lambda.floor.n >= 25 N : n = n + 1, x' = 1;"""
    system = kn.loads(text)
    with unfused():
        result = kn.simulate(system, 1.0, samples=3, tau={"z'": kn.sampled([0.0, -7.0], 2)})
    run = InC(tmp_path, kn.export_run(system, 1.0), "scale")
    assert run.begin() == REACHED
    assert run.advance(0.5) == REACHED
    run.function("hold")(run.run, (ctypes.c_double * 2)(0.0, -7.0))
    assert run.changes() == [*result.changes] == [(0.5, "heavy switches")]
    assert run.advance(1.0) == REACHED
    assert run.state()[:4] == result.y[:, -1].tolist()


PROGRAM = """
#include "fourbar_run.h"
#include <cstdio>

static fourbar_run one, other;

static void print(const double *state)
{
    for (int i = 0; i < FOURBAR_STATES; i++)
        std::printf("%.17g ", state[i]);
    std::printf("\\n");
}

int main()
{
    fourbar_problem problem;
    fourbar_defaults(&problem);
    problem.max_steps = 3;
    int status = fourbar_begin(&one, &problem);
    fourbar_defaults(&problem);
    problem.p.LENGTH *= 1.01;
    problem.q[0] += 0.01;
    status = 10 * status + fourbar_begin(&other, &problem);
    print(fourbar_state(&other));
    status = 10 * status + fourbar_advance(&one, 5.0);
    status = 10 * status + fourbar_advance(&other, 0.5);
    print(fourbar_state(&other));
    problem.p.LENGTH *= 100.0;
    status = 10 * status + fourbar_begin(&one, &problem);
    std::printf("%d %s\\n", status, fourbar_message(status % 10));
    for (int i = 0; i < FOURBAR_STATES; i++)
        std::printf("%s %s\\n", fourbar_names[i], fourbar_units[i]);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_a_program_in_cpp_changes_parameters_and_states(tmp_path: Path) -> None:
    """Two runs at a time; states beside the constraints are brought onto them, or refused."""
    system = kn.load(EXAMPLES / "fourbar.kin")
    length = "c"
    kn.export_run(system).save(tmp_path)
    assert COMPILER is not None
    subprocess.run([COMPILER, *FLAGS, "-c", "fourbar_run.c"], cwd=tmp_path, check=True)
    (tmp_path / "use.cpp").write_text(PROGRAM.replace("LENGTH", length))
    subprocess.run(
        ["c++", "-Wall", "-Wextra", "use.cpp", "fourbar_run.o", "-o", "use", "-lm"], cwd=tmp_path, check=True
    )
    said = subprocess.run(["./use"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[2] == f"{OUT_OF_STEPS * 100 + INCONSISTENT} No state near the start meets the constraints."
    assert [line.split() for line in said[3:]] == [
        [n, "rad" if n in system.q_names else "rad/s"] for n in (*system.q_names, *system.v_names)
    ]
    start, end = ([float(x) for x in line.split()] for line in said[:2])
    nq, p = system.nq, {length: 1.01 * system.parameters[length]}
    assert start[0] != end[0]
    result = kn.simulate(system, 0.5, q=start[:nq], v=start[nq:], p=p)
    np.testing.assert_allclose(end, result.y[:, -1], rtol=1e-8)


def test_names_are_those_of_c_and_no_words_of_templates(tmp_path: Path) -> None:
    parameters = "NAME = 1 kg, PREFIX = 2, double = 3 N/m, NAN = 0.5, T0 = 1"
    system = kn.loads(
        f"model odd; parameters {parameters}; initial x = 1; Cart | Sx(x) = m(NAME); spring s = double on x;"
        "output TITLE = x*T0 + PREFIX*NAN;"
    )
    run = InC(tmp_path, kn.export_run(system, name="2 */ Ног"), "_2____Nog")
    assert run.simulate(2)[0].tolist() == [0.0, 1.0, 0.0, 0.0, 1.5, 2.0]


# -- contacts ---------------------------------------------------------------------------------------------------------

BOX = """
point A{k} on Box{k} = (0.2, 0.15, 0.1); point B{k} on Box{k} = (0.2, 0.15, -0.1);
point C{k} on Box{k} = (0.2, -0.15, 0.1);
point D{k} on Box{k} = (0.2, -0.15, -0.1);
point E{k} on Box{k} = (-0.2, 0.15, 0.1);
point F{k} on Box{k} = (-0.2, 0.15, -0.1);
point G{k} on Box{k} = (-0.2, -0.15, 0.1); point H{k} on Box{k} = (-0.2, -0.15, -0.1);
Box{k} | Free(b{k}) = 1, 0.011, 0.017, 0.021;
contact floor{k} : point between A{k}, B{k}, C{k}, D{k}, E{k}, F{k}, G{k}, H{k} and ground axis (0, 0, 1),
    restitution = 0.3, friction = 0.4;
initial b{k}.x = 2*{k}, b{k}.z = 0.5 + 0.05*{k}, b{k}.qw = 0.9, b{k}.qx = 0.3, b{k}.qy = 0.2, b{k}.qz = sqrt(0.06),
    b{k}.vx = 1.5, b{k}.wx = 2 + 0.2*{k}, b{k}.wy = 3, b{k}.wz = 1;
"""


def boxes(count: int) -> kn.System:
    """Boxes thrown on the ground, each differently."""
    return kn.loads("model boxes; gravity 9.81;" + "".join(BOX.replace("{k}", str(k)) for k in range(count)))


def lying_fourbar() -> kn.System:
    """A four-bar that comes to lie on its coupler."""
    touch = "point Tip on Coupler = (0.45, -0.1, 0); contact g : point between Tip and ground at (0, 0.3, 0) "
    touch += "axis (0, 1, 0), friction = 0.4; output Tip.y, lambda.g.n;"
    return kn.loads(kn.dumps(kn.load(EXAMPLES / "fourbar.kin")) + touch)


def example(name: str) -> kn.System:
    return kn.load(EXAMPLES / f"{name}.kin")


#: Switches that hear impacts, whose conditions jump with a speed and a force, that have conditions and follow each other, a
#: contact that one turns off, and the end of the run by another.
SENSING = kn.loads("""model sensing; gravity 9.81; parameters e = 0.8, n = 0, hits = 0, rests = 0, on = 1;
B | Sx(x), Sz(z) = 2; coordinates x, z; initial z = 1, x' = 0.3; output n, hits, rests, on, e;
contact floor : point between B and ground axis (0, 0, 1), restitution = e, friction = 0.1;
limit wall : x <= 0.4, restitution = 0.5 while on == 1;
when soft : floor strikes : e = 0.7*e, hits = hits + 1;
when up : z' >= 0 : n = n + 1;
when often : n >= 4.5 : x' = -1;
when lies : lambda.floor.n >= 5 : rests = 1, x' = 1.5;
when off : x >= 0.2 and rests == 1 : on = 0;
when end : x >= 0.7 and on == 0 : stop;""")
#: A relay, and a switch that follows one of its own.
FOLLOWING = kn.loads("""model following; parameters u = -1, n = 0; M | Sx(x) = 1; coordinates x; force f = u on x; initial x = 1;
when a : x >= 0.1 : u = -1, n = n + 1; when b : x <= -0.1 : u = 1, x = 0.5; when c : x >= 0.4 : x' = x'/2;
output n, u;""")

#: Friction that is there for a part of the time, and grows with the place: its limit comes to zero and back.
VARYING = kn.loads("""model varying; gravity 9.81; B | Sx(x), Sz(z) = 1; coordinates x, z; spring k = 4 on x;
force f = 3*cos(5*t) on x; friction rub = max(2*sin(3*t), 0) on x;
contact floor : point between B and ground axis (0, 0, 1), friction = max(0.2 - x, 0);
initial x = 0.5, x' = 1;""")

#: Switches beside a constraint, of which one hears a stop.
BEAD = kn.loads("""model bead; parameters k = 1, n = 0; B | Sx(x), Sy(y) = 1; coordinates x, y; constraint c : x^2 + y^2 = 1;
force g = -9.81*k on y; initial x = 1, y' = 1; output n; limit l : y >= -0.9, restitution = 0.5;
when a : l strikes : k = k + 0.1, n = n + 1; when b : x <= 0 : x' = 1.1*x';""")

#: A switch that adds mass, which turns the tensor of inertia, and one that tilts the ground.
LOADING = kn.loads("""model loading; gravity 9.81; parameters m = 1, J = 0.02, c = 0, s = 0;
B | Free(b) = m(m), Jx(J), Jy(2*J), Jz(2*J), Jxz(c); point P on B = (0.2, 0.1, -0.1);
contact floor : point between P and ground axis (s, 0, 1);
initial b.z = 0.5, b.vx = 1, b.wz = 2; output m;
when load : b.x >= 0.3 : m = m + 0.5, J = 1.5*J, c = 0.005; when tilt : t >= 0.9 : s = -0.1;""")

#: A wall that strikes in a pulse, and a floor that falls away and comes back, with corners.
JOLTS = kn.loads("""model jolts; parameters w = 0.01; B | Sx(x), Sz(z) = 1; coordinates x, z; force weight = -9.81 on z;
limit wall : x <= 2 - 50*max(0, w - abs(t - 0.5 - w)), restitution = 0.3;
limit floor : z >= table(t; (0, 0), (0.7, 0), (0.8, -0.2), (1, 0)) - 0.1*step(t - 1.2); initial x = 1.9;""")

#: A relay beside friction, which a switch turns off, between stops that strike.
BRAKED = kn.loads("""model braked; coordinates x, y; Car | Sx(x), Sy(y) = 1; parameters on = 1;
force f = -on*sign(x') - 0.2*sign(y') on x; force u = 3*sin(t) + 0.3*y on x; friction g = 0.5 on x;
force h = -4*sign(2*y + y') on y; limit stop : x <= 4, restitution = 0.5; limit end : y >= 0.1, restitution = 0.5;
initial x' = 2, y = 1; output r = -sign(x'); when off : t >= 8.1 : on = 0;""")

TOUCHING = [
    (BRAKED, 10.0, [kn.symbol("x") - 3.9]),
    (JOLTS, 1.5, []),
    (LOADING, 1.5, []),
    (BEAD, 3.0, [kn.symbol("x'")]),
    (example("bouncing_ball"), 3.0, [kn.symbol("x") - 0.3]),
    (example("rocking_block"), 1.5, []),
    (example("friction_oscillator"), 8.0, []),
    (example("thrown_box"), 1.5, []),
    (example("hopper"), 2.0, [kn.symbol("x")]),
    (COMPASS, 3.0, [kn.symbol("s")]),
    (SENSING, 4.0, [kn.symbol("z") - 0.2]),
    (FOLLOWING, 6.0, []),
    (VARYING, 4.0, []),
    (lying_fourbar(), 2.0, []),
    (boxes(10), 0.35, [sum(map(kn.symbol, [f"b{k}.x" for k in range(10)])) - 1e3]),  # which keeps them in one run
]


@pytest.mark.slow
@pytest.mark.parametrize(("system", "end", "events"), TOUCHING, ids=lambda x: getattr(x, "name", ""))
def test_contacts_are_those_of_simulate_to_the_last_bit(
    tmp_path: Path, system: kn.System, end: float, events: Sequence[Any]
) -> None:
    equations = kn.derive(system)
    with unfused():
        result = kn.simulate(equations, end, samples=21, events=events)
    run = InC(tmp_path, kn.export_run(equations, end, events=events), system.name)
    same(run, run.simulate(21), result)
    assert run.begin() == REACHED
    changes, impacts, zeros, status = list[Any](), list[Any](), [], CHANGED
    while status not in (REACHED, ENDED):
        if status == EVENT:
            zeros.append(run.function("time")(run.run))
        else:
            assert status == CHANGED
            changes += run.changes()
            impacts += run.impacts() if result.impacts else []
        status = run.advance(end)
    assert changes == [one for one in result.changes if "slide" not in one[1]]
    assert impacts == [tuple(impact) for impact in result.impacts]
    assert zeros == [t for found in result.t_events for t in found.tolist()]
    assert [row[1] for row in changes]


@pytest.mark.slow
def test_what_hears_an_impact_at_the_start_switches_behind_it(tmp_path: Path) -> None:
    """The first state is that before; speeds that jump over zero are events behind the change."""
    system = kn.loads("""model hit; gravity 9.81; parameters e = 0.8, n = 0; B | Sx(x), Sz(z) = 2; coordinates x, z; output n;
    initial x' = 0.3, z' = -2; contact floor : point between B and ground axis (0, 0, 1), restitution = e;
    when turn : floor strikes : n = n + 1, x' = -x';""")
    with unfused():
        result = kn.simulate(system, 0.4, samples=2, events=[kn.symbol("x'")])
    run = InC(tmp_path, kn.export_run(system, 0.4, events=[kn.symbol("x'")]), "hit")
    assert run.begin() == REACHED
    assert run.state()[:4] == result.y[:4, 0].tolist() == [0, 0, 0.3, 1.6]
    found, status = list[Any](), CHANGED
    while status not in (REACHED, ENDED):
        status = run.advance(0.4)
        found.append((status, run.function("time")(run.run), run.state()[2]))
    struck = result.t_events[0][0]
    assert found == [(CHANGED, 0.0, -0.3), (CHANGED, struck, 0.3), (EVENT, struck, 0.3), (REACHED, 0.4, 0.3)]
    assert run.state()[:4] == result.y[:4, -1].tolist()


def test_numbers_of_outcomes_stay() -> None:
    names = """REACHED ENDED EVENT STEP_TOO_SMALL NOT_FINITE OUT_OF_STEPS UNDEFINED_EVENT INCONSISTENT CHANGED PENETRATES
    NO_IMPULSES NO_FORCES INADMISSIBLE NO_SLOPE HELD NEGATIVE FULL ENDLESS BACKWARDS UNSETTABLE UNCONTROLLED"""
    known = OUTCOMES | CONTACT_OUTCOMES | PROGRAM_OUTCOMES
    numbers = {n: k for k, n in enumerate(names.split())} | {"UNENDING": 23}
    assert {name: number for name, (number, _) in known.items()} == numbers
    page = (ROOT / "docs" / "cli.md").read_text()
    for name, (number, _) in known.items():
        assert f"| {number} | `{name}` |" in page


def test_a_run_without_contacts_says_nothing_of_them() -> None:
    source = kn.export_run(example("double_pendulum"), 1.0).files["double_pendulum_run.c"].decode()
    assert set(re.findall(r"^typedef struct (\w+)", source, re.MULTILINE)) == {"RunData", "EventData", "StandaloneRun"}


LOST = "model lost; A | Sx(x) = 2; B ~ A | Sy(y) = 1; coordinates x, y; point Q on B = (0.1, 0, 0); "


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "program a : |a(Q)| = 1 - 2*t; initial x'' = 1;",
        pytest.param(
            "program a : |a(Q)| = 1 - 2*t; program b : y''' = -1; initial x'' = 0.8, y'' = 0.6;", marks=pytest.mark.slow
        ),
    ],
)
def test_a_run_whose_programs_lose_their_gradients_ends(tmp_path: Path, text: str) -> None:
    system = kn.loads(LOST + text)
    result = kn.simulate(system, 1.0, samples=21)
    assert result.status == -1
    run = InC(tmp_path, kn.export_run(system, 1.0), "lost")
    assert run.begin() == REACHED
    before = result.t < 0.4
    for t, y in zip(result.t[before].tolist(), result.y.T[before], strict=True):
        assert run.advance(t) == REACHED
        np.testing.assert_allclose(run.state()[: len(y)], y, rtol=1e-8, atol=1e-9)
    assert run.advance(1.0) == UNCONTROLLED


@pytest.mark.slow
def test_derivatives_at_the_start_of_a_programmed_run_are_given(tmp_path: Path) -> None:
    system = kn.load(EXAMPLES / "satellite_turn.kin")
    levels = {"b.wx'": 0.05, "b.wy'": 0.02}
    exported = kn.export_run(system, 1.0, levels=levels)
    assert tuple(exported.states[-3:]) == ("b.wx'", "b.wy'", "b.wz'")
    found = InC(tmp_path, exported, "satellite_turn").simulate(3)[-1, 1 : 1 + len(exported.states)]
    np.testing.assert_allclose(
        found, kn.simulate(system, 1.0, levels=levels, samples=3).y[:, -1], rtol=1e-9, atol=1e-12
    )


def test_bad_arguments_are_sentences() -> None:
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    with pytest.raises(kn.ArgumentError, match="Expected a name with a letter, found '_'"):
        kn.export_run(system, name="_")
    with pytest.raises(kn.ArgumentError, match="Expected one motion to export, found 3 cases"):
        kn.export_run(system, q=np.zeros((3, 2)))
    with pytest.raises(kn.ArgumentError, match="fortran"):
        kn.export_run(system, language="fortran")
    with pytest.raises(kn.ArgumentError, match="Radau"):
        kn.export_run(system, method="Radau")
