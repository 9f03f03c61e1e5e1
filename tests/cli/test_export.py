"""The exported C code: compiled without a warning, and the numbers of ``kineta eval``."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from tests.cli.conftest import CART, Command
from tests.support import EXAMPLES, PILES, examples

COMPILER = shutil.which("cc") or shutil.which("gcc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

DROP = "A | Sz(z) = 1; coordinates z; contact floor : point between A and ground axis (0, 0, 1); initial z = 1;"

QUANTITIES = ("inverse", "mass_matrix", "bias", "forward")


def compiled(name: str, *more: str) -> ctypes.CDLL:
    assert COMPILER is not None
    library = Path(f"{name}.so").resolve()
    subprocess.run([COMPILER, *FLAGS, "-fPIC", "-shared", f"{name}.c", "-o", library, *more, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, function: str, size: int, *blocks: list[float]) -> np.ndarray:
    out = np.full(size, np.nan)
    arrays = [np.array(b, dtype=float) for b in blocks]
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, out)]
    getattr(library, function)(*pointers)
    return out


@needs_compiler
@pytest.mark.filterwarnings("ignore:.*redundant and left out:kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", examples(without=PILES, of=4))
def test_exported_code_gives_the_numbers_of_eval(kineta: Command, here: Path, name: str) -> None:
    model = EXAMPLES / f"{name}.kin"
    exported = kineta("export", model, "--name", "robot", "--json").json
    assert list(exported) == ["model", "files", "functions"]
    assert exported["files"] == ["robot.h", "robot.c"]
    library = compiled("robot")
    system = kn.load(model)
    equations = kn.derive(system).settled()
    p = [x.value for x in system.parameters]
    vdot, tau = ([s * (i + 1) / 7 for i in range(system.nv)] for s in (1, -1))
    for quantity in QUANTITIES:
        extra = {"inverse": {"vdot": vdot}, "forward": {"tau": tau}}.get(quantity, {})
        options = [x for name, value in extra.items() for x in (f"--{name}", json.dumps(value))]
        found = kineta("eval", model, "--quantity", quantity, "--t", "0.3", *options, "--json").json
        setup, _ = equations.programs(quantity)
        h = call(library, f"robot_{quantity}_setup", setup.n_outputs, p) if setup.n_outputs else []
        assert (f"robot_{quantity}_setup" in exported["functions"]) == bool(setup.n_outputs)
        size = int(np.prod(found["shape"]))
        value = call(library, f"robot_{quantity}", size, [0.3], found["q"], found["v"], *extra.values(), h)
        wanted = np.ravel(found["value"])
        np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(wanted).max(initial=0.0)))


PROGRAM = """
#include <stdio.h>
#include "cart_pendulum.h"
#include "cart_pendulum.h"

int main(void)
{
    const double t[1] = {0.0}, tau[CART_PENDULUM_N_TAU] = {0.0, 0.0};
    double vdot[CART_PENDULUM_N_FORWARD];
    cart_pendulum_forward(t, cart_pendulum_q0, cart_pendulum_v0, tau, t, vdot);
    printf("[%.17g, %.17g]\\n", vdot[0], vdot[1]);
    return 0;
}
"""


@needs_compiler
def test_a_program_uses_the_header(kineta: Command, here: Path) -> None:
    """With parameters folded in there is no setup, and nothing is read of the last block."""
    done = kineta("export", CART, "--fix", "--set", "m1=2.5", "--quantity", "forward, forward", "--to", "new/src")
    assert (done.code, done.out) == (0, "written: new/src/cart_pendulum.h, new/src/cart_pendulum.c\n")
    assert "m1" not in (here / "new/src/cart_pendulum.c").read_text()
    (here / "new/src/main.c").write_text(PROGRAM)
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, *FLAGS, "main.c", "cart_pendulum.c", "-o", "main", "-lm"], cwd=here / "new/src", check=True
    )
    printed = subprocess.run(["./main"], cwd=here / "new/src", check=True, capture_output=True, text=True).stdout
    expected = kineta("eval", CART, "--set", "m1=2.5", "--json").json["value"]
    np.testing.assert_allclose(json.loads(printed), expected, rtol=1e-13)


@needs_compiler
def test_a_model_without_outputs_writes_none(kineta: Command, here: Path) -> None:
    (here / "drop.kin").write_text(DROP)
    assert kineta("export", "drop.kin", "--quantity", "outputs", "--name", "drop").code == 0
    compiled("drop")


@needs_compiler
def test_the_code_holds_the_values_of_the_model(kineta: Command, here: Path) -> None:
    kineta("export", CART, "--set", "m1=2.5")
    library = compiled("cart_pendulum")
    system = kn.load(CART)
    state = kineta("eval", CART, "--json").json
    p = {q.name: q.value for q in system.parameters} | {"m1": 2.5}
    for name, expected in (("p", list(p.values())), ("q0", state["q"]), ("v0", state["v"])):
        assert list((ctypes.c_double * len(expected)).in_dll(library, f"cart_pendulum_{name}")) == expected


@pytest.mark.slow
def test_runs_are_written_in_two_languages(kineta: Command, here: Path) -> None:
    found = kineta("export", CART, "--run", "--wasm", "--name", "cart", "--event", "q2 - 0.1", "--json").json
    assert found["files"] == ["cart_run.h", "cart_run.c", "cart_main.c", "cart_run.wasm", "cart_run.mjs"]
    assert list(found) == ["model", "files", "states", "observed", "events", "contacts", "switches", "units"]
    assert (found["events"], found["contacts"]) == (["q2 - 0.1"], [])
    assert found["states"] == ["q1", "q2", "q1'", "q2'"]
    assert (here / "cart_run.wasm").read_bytes().startswith(b"\0asm")
    alone = kineta("export", CART, "--event", "q2")
    assert (alone.code, alone.err) == (1, "kineta: --event: events are those of a run; add --run or --wasm.\n")
    stepped = kineta("export", CART, "--method", "moreau")
    assert (stepped.code, stepped.err) == (1, "kineta: --method: methods are those of a run; add --run or --wasm.\n")
    (here / "drop.kin").write_text(DROP)
    dropped = kineta("export", "drop.kin", "--run", "--method", "moreau", "--json")
    assert (dropped.code, dropped.json["contacts"]) == (0, ["floor"])
    watched = kineta("export", "drop.kin", "--run", "--method", "moreau", "--event", "z")
    assert "looks for no events and switches, found event 'z'" in watched.err
    again = kineta("export", CART, "--wasm", "--name", "cart")
    assert (again.code, again.err) == (1, "kineta: cart_run.wasm exists already; give --force to overwrite it.\n")


def test_values_that_are_not_known_are_left_out(kineta: Command, here: Path) -> None:
    (here / "cart.kin").write_text("parameters m; initial q = m; Cart | Sx(q) = m;")
    kineta("export", "cart.kin")
    assert "#define CART_N_P 1\n" in (here / "cart.h").read_text()
    assert "extern const" not in (here / "cart.h").read_text()
    run = kineta("export", "cart.kin", "--run")
    assert run.err == "kineta: Model 'cart': the parameter m needs a value: give --set m=... or a value in the model.\n"


def test_the_header_says_what_is_what(kineta: Command, here: Path) -> None:
    """One buffer of the size of the macro serves every function."""
    kineta("export", CART)
    header = (here / "cart_pendulum.h").read_text()
    assert header.startswith("/* Equations of the model 'cart_pendulum', generated by kineta. */")
    assert " * q[2]: q1, q2\n" in header
    sizes = [int(n) for n in re.findall(r"h\[(\d+)\]: what the function with the suffix _setup writes", header)]
    assert len(set(sizes)) > 1
    assert f"#define CART_PENDULUM_N_H {max(sizes)}\n" in header


@needs_compiler
@pytest.mark.parametrize("name", ["Нога", "int", "2 legs", "a/../b", "*/ evil"])
def test_any_name_becomes_an_identifier(kineta: Command, here: Path, name: str) -> None:
    header, source = (Path(f) for f in kineta("export", CART, "--name", name, "--json").json["files"])
    assert header.stem.isidentifier()
    assert header.stem.isascii()
    assert header.parent == source.parent == Path()
    compiled(source.stem)
