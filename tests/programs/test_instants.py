"""The highest derivatives, multipliers and controls under programs as functions of a state, for programs of any order."""

from __future__ import annotations

import json
from math import factorial
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.cli.main import app
from tests.mechanics.truth import load
from tests.programs.instants import any_state
from tests.support import EXAMPLES

S = kn.symbol
#: Names of the arguments that are derivatives of the speeds.
BLOCKS = ("v", "vdot", "vddot", "vdddot")
#: Programs, their orders, and those of the equations that come of them.
WANTED = [
    ("x + y^2 = sin(t)", 0, 2),
    ("x' + y*y' = sin(t)", 1, 2),
    ("x'' + 0.5*y'' = cos(t)", 2, 2),
    ("x''^2 + y''^2 = 2 + sin(t)", 2, 3),
    ("x'''^2 + 2*y'''^2 = 1 + t", 3, 4),
]


def craft(program: str, law: str = "covariant") -> kn.System:
    return kn.loads(
        f"gravity (0, -9.81, 0); coordinates x, y; P | Sx(x), Sy(y) = 2; force F on P = (-x*y, sin(x), 0);"
        f"program hold : {program}; control {law};"
    )


def given(system: kn.System, state: dict[str, float], arguments: tuple[str, ...]) -> list[Any]:
    """The arguments of a function, from a state by names."""
    rows = {"t": state["t"], "q": [state[n] for n in system.q_names], "tau": np.zeros(system.nv)}
    return [rows[n] if n in rows else level(system, state, BLOCKS.index(n)) for n in arguments]


def level(system: kn.System, state: dict[str, float], k: int) -> list[float]:
    """The derivatives of the speeds of this order."""
    return [state[n + "'" * k] for n in system.v_names]


@pytest.mark.parametrize(("program", "order", "s"), WANTED)
@pytest.mark.parametrize("law", ["covariant", "kineta", "least"])
def test_the_highest_derivatives_meet_the_program(program: str, order: int, s: int, law: str) -> None:
    """The program, or what it becomes when it is differentiated until they stand in it, by differences along the motion."""
    system = craft(program, law)
    equations = kn.derive(system)
    highest, multipliers = equations.function("highest"), equations.function("program_multipliers")
    state = any_state(system, s, s)
    z = highest(*given(system, state, highest.arguments))
    assert highest.quantity == f"highest({s})"
    assert z.shape == (2,)
    assert multipliers(*given(system, state, multipliers.arguments)).shape == (1,)
    motion = [given(system, state, ("q",))[0], *(level(system, state, k) for k in range(s - 1)), z]

    def missed(h: float) -> float:
        """By how much the program is missed after a time h, on Taylor's polynomial of the motion."""
        found = system.programs[0].value.subs(S("t"), state["t"] + h)
        for k in reversed(range(s + 1)):
            rows = [np.array(x) * h**j / factorial(j) for j, x in enumerate(motion[k:])]
            for n, x in zip(system.q_names, sum(rows), strict=True):
                found = found.subs(S(n + "'" * k), float(x))
        assert found.value is not None
        return found.value

    h = 1e-3
    differences = {
        0: missed(0),
        1: (missed(h) - missed(-h)) / (2 * h),
        2: (missed(h) - 2 * missed(0) + missed(-h)) / h**2,
    }
    assert differences[s - order] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("name", ["charged_particle_uniform", "charged_particle_gradient"])
def test_instants_of_the_reference_problems(name: str) -> None:
    """The multipliers of every line of the truth, and the third derivatives as differences of its second ones."""
    data = load(f"third_order/{name}_s.json")
    p, table = data["parameters"], data["expected"]["table"]
    x, y, vx, vy = S("x"), S("y"), S("x'"), S("y'")
    B = p["B"] * (1 + p["bB"] * x)
    force = (p["e"] * (p["Ex"] + p["gx"] * x + B * vy), p["e"] * (p["Ey"] - p["gx"] * y - B * vx), 0)
    size = p["m"] / 2 * abs(kn.vector("a", "P")) ** 2 - 0.9 * (1 + 0.4 * kn.sin(1.5 * S("t")))
    body = kn.body("P", [kn.Sx(x), kn.Sy(y)], kn.inertia(p["m"]))
    system = kn.System("point", [body], coordinates=["x", "y"], elements=[kn.force("F", "P", force)])
    equations = kn.derive(system.replace(programs=[kn.program("hold", size)]))
    t, q, v, a = (np.array([row[n] for row in table]) for n in ("t", "q", "qd", "qdd"))
    found = equations.function("program_multipliers")(t, q, v, a)[:, 0]
    assert found == pytest.approx([row["lambda"] for row in table], abs=data["tolerance"]["abs_lambda"])
    highest = equations.function("highest(3)")(t, q, v, a)
    run = kn.simulate(equations, t[-1], q=q[0], v=v[0], levels=a[:1], t_eval=t, rtol=1e-10, atol=1e-12)
    control = equations.function("control")(run.t, run.q, run.v, np.stack([run["x''"], run["y''"]], axis=-1))
    assert control == pytest.approx(np.stack([run["control.x'"], run["control.y'"]], axis=-1), abs=1e-9)
    assert np.gradient(a[:, 0], t)[1:-1] == pytest.approx(highest[1:-1, 0], abs=0.3 * np.abs(highest).max())


def test_what_is_asked_of_models_without_programs_or_of_another_order() -> None:
    with pytest.raises(kn.ArgumentError, match="expected programs of motion to ask for highest of, found none"):
        kn.derive(kn.load(EXAMPLES / "double_pendulum.kin")).function("highest")
    equations = kn.derive(craft(WANTED[3][0]))
    with pytest.raises(
        kn.ArgumentError, match=r"of the order 3; expected highest\(3\), or highest alone, found 'highest\(2\)'"
    ):
        equations.function("highest(2)")


@pytest.mark.parametrize("r", [0, 1])
def test_the_multiplier_of_least_is_the_slope_of_the_least_sum(r: int) -> None:
    """lambda = d(sum of w u^2 / 2)/db, where b is what the derivatives u of the actuators have to add to the program."""
    program = "x'' + 0.5*y'' = 3" if r == 0 else "x''' + 0.5*y''' = 3"
    text = (
        "gravity (0, -9.81, 0); coordinates x, y, phi; parameters d = 0;"
        "A | Sx(x), Sy(y) = 2; B ~ A | Rz(phi), Sx(0.4) = 1, 0.1, 0.1, 0.1; spring k = 3 on phi;"
        f"program hold : {program} + d; control least on x weight 2, phi weight 0.7;"
    )
    system = kn.loads(text)
    equations = kn.derive(system)
    state = any_state(system, 5, 4)
    multiplier, highest = (equations.function(n) for n in ("program_multipliers", "highest"))
    weights, nv = np.array([2.0, np.inf, 0.7]), system.nv

    def least(d: float) -> float:
        """The sum of w u^2 / 2 of the derivatives u of order r of the control."""
        z = highest(*given(system, state, highest.arguments), p={"d": d})
        if r == 0:
            u = equations.function("inverse")(state["t"], *given(system, state, ("q", "v")), z)
        else:
            # By differences along the motion that has these derivatives.
            q, v, a = (np.array(x, dtype=float) for x in given(system, state, ("q", "v", "vdot")))
            inverse, h = equations.function("inverse"), 1e-4
            ahead, back = (
                inverse(state["t"] + x, q + x * v + x**2 / 2 * a + x**3 / 6 * z, v + x * a + x**2 / 2 * z, a + x * z)
                for x in (h, -h)
            )
            u = (ahead - back) / (2 * h)
        assert u[1] == pytest.approx(0, abs=1e-5)
        return float(sum(w * x**2 / 2 for w, x in zip(weights, u, strict=True) if np.isfinite(w)))

    slope = (least(0.5) - least(-0.5)) / 1.0  # the sum is a square: this is its slope at zero
    assert nv == 3
    assert multiplier(*given(system, state, multiplier.arguments)) == pytest.approx([slope], rel=1e-6)


def test_an_instant_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """What is not given of the derivatives that are states is that of ``initial``."""
    model = EXAMPLES / "charged_craft.kin"
    app.main(["eval", str(model), "--quantity", "highest", "--json"], standalone_mode=False)
    said = json.loads(capsys.readouterr().out)
    assert said["vdot"] == [0.6, -0.3]
    highest = kn.derive(kn.load(model)).function("highest")
    assert said["value"] == pytest.approx(highest(0.0, said["q"], said["v"], said["vdot"]), rel=1e-12)
