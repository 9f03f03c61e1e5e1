"""A run in the page: the WebAssembly module of an exported run, with the poses of its machine and the forces of a hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kineta.codegen.kernels import web_assembly
from kineta.codegen.kernels.straight_line import room, straight_line
from kineta.codegen.kernels.tree import KernelTree
from kineta.equations.equations import Equations
from kineta.expr.program import StraightLineProgram
from kineta.integration.time_stepping import MOREAU
from kineta.kernels.standalone.sincos import sine_and_cosine
from kineta.kernels.translation import translate_unit
from kineta.page.dragging_force import hand
from kineta.page.parameter_limits import limits
from kineta.runtime.compiled import compile_system
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.functions import SETUP
from kineta.runtime.problem import SimulationProblem
from kineta.scene.scene import Scene
from kineta.scene.system_scene import scene
from kineta.tasks.export.run_names import run_names
from kineta.tasks.export.run_record import run_code
from kineta.tasks.export.wasm_module import wasm_run

#: The first address of a module without a run.
_START = 1024


@dataclass(frozen=True)
class PageModule:
    """The bytes of a *module* of WebAssembly and what the page is told of it: words of the loader of a run, none without one;
    addresses of the ``arena``, arrays for arguments and results of functions that are called by themselves.
    """

    module: bytes
    known: Mapping[str, Any]
    arena: Mapping[str, int]


def live_module(task: SimulationProblem) -> PageModule:
    """The module of the run of *task*, with its poses and the forces of a hand."""
    code, told = run_code(task), run_names(task)
    system = task.system
    for start in (code.record.array("start"), code.record.run.array("y")):
        start[: system.nq + system.nv] = 0.0  # which the page tells each run
    held, drawn = hand(task.equations), scene(task.equations)
    bounds = limits(task.equations)
    stepped = task.method == MOREAU
    made = (
        compile_system(task.equations, task.made.forces, (), PROJECTED).programs if stepped else task.made.code.programs
    )
    alone = made["free" if "free" in made else "rate"]
    sizes = _poses(drawn, system.nq, system.nv, len(told.p)) | {
        "y": len(task.y0),
        "given": len(task.made.p) + system.nv,
        "block": made[SETUP].n_outputs + max(room(made[SETUP]), room(alone)),
        "rates": alone.n_outputs,
        "grip": held.inputs[-1].size,
        "held": held.n_outputs + room(held),
        "limits": bounds.program.n_outputs + room(bounds.program),
    }
    programs = _of_scene(drawn) | {"hand": held, "limits": bounds.program}
    if stepped:  # steps have no accelerations without contact forces
        programs |= {"setup_free": made[SETUP], "free": alone}
    more = _trees(programs)
    found = wasm_run(code, told, more, 8 * sum(sizes.values()))
    known = dict(found.known)
    known["INFORMATION"] |= {
        "size": len(task.y0),
        "order": task.made.code.layout.order,
        "works": task.made.code.layout.works,
        "limits": bounds.told,
        "residuals": task.made.code.layout.levels,
        "stepped": stepped,
        "accelerations": {
            "setup": "setup_free" if stepped else "setup",
            **({"function": "free", "first": 0} if "free" in made else {"function": "rate", "first": system.nq}),
        },
    }
    return PageModule(found.module, known, _arena(sizes, found.free))


def still_module(equations: Equations) -> PageModule:
    """The module of the poses of the machine of *equations* alone, where its run is not computed in the page."""
    drawn, system = scene(equations), equations.system
    sizes = _poses(drawn, system.nq, system.nv, len(system.parameter_names))
    arena = _arena(sizes, _START)
    return PageModule(web_assembly.source(_trees(_of_scene(drawn)), memory=_START + 8 * sum(sizes.values())), {}, arena)


def _trees(programs: Mapping[str, StraightLineProgram]) -> dict[KernelTree, str]:
    return {straight_line(program, name, _sincos()): name for name, program in programs.items()}


@cache
def _sincos() -> KernelTree:
    (tree,) = translate_unit((sine_and_cosine,))
    return tree


def _of_scene(drawn: Scene) -> dict[str, StraightLineProgram]:
    """The programs of poses, and of the heights of ground that is uneven."""
    return {"scene": drawn.program} | ({} if drawn.heights is None else {"ground": drawn.heights})


def _poses(drawn: Scene, nq: int, nv: int, parameters: int) -> dict[str, int]:
    """Numbers of the arrays that poses and heights are computed from, and of their results."""
    seen, high = drawn.program, drawn.heights
    more = {} if high is None else {"place": 2, "heights": high.n_outputs + room(high)}
    return {"t": 1, "q": nq, "v": nv, "p": parameters, "seen": seen.n_outputs + room(seen)} | more


def _arena(sizes: Mapping[str, int], start: int) -> dict[str, int]:
    found, at = dict[str, int](), start
    for name, size in sizes.items():
        found[name], at = at, at + 8 * size
    return found
