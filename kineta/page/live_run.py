"""A run in the page: the WebAssembly module of an exported run, with the poses of its machine and the forces of a hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from kineta.codegen.kernels import web_assembly
from kineta.codegen.kernels.straight_line import room, straight_line
from kineta.codegen.kernels.tree import KernelTree
from kineta.equations.equations import Equations
from kineta.expr.program import StraightLineProgram
from kineta.integration.solver import BY_EVENTS
from kineta.integration.time_stepping import MOREAU
from kineta.kernels.standalone.fallback_run import StandaloneFallback
from kineta.kernels.standalone.sincos import sine_and_cosine
from kineta.kernels.standalone.standalone_run import StandaloneRun
from kineta.kernels.standalone.stepping_run import StandaloneSteps
from kineta.kernels.time_stepping.near_pairs import list_features
from kineta.kernels.time_stepping.pair_features import FEATURE_NUMBERS, GAP, NORMAL, PLACE, PLANE, ROUND
from kineta.kernels.translation import translate_unit
from kineta.page.dragging_force import hand
from kineta.page.expression_domains import domains
from kineta.page.parameter_limits import limits
from kineta.page.start_values import start_values
from kineta.records import dataclass
from kineta.runtime.compiled import compile_system
from kineta.runtime.constraint_treatment import PROJECTED, treatment
from kineta.runtime.functions import SETUP
from kineta.runtime.problem import SimulationProblem
from kineta.scene.scene import Scene
from kineta.scene.system_scene import scene
from kineta.tasks.export.exported_run import TouchingRun
from kineta.tasks.export.run_names import RunNames, run_names
from kineta.tasks.export.run_record import RunCode, run_code
from kineta.tasks.export.wasm_module import wasm_run

#: Where the features of pairs of bodies lie that are near after a step, and the impulses of those that pressed in it.
_PAIRS = {
    "features": "root_run_pairs_features",
    "pairs": "root_run_pairs",
    "near": "root_run_pairs.count",
    "pair": "root_run_pairs_pair",
    "feature": "root_run_pairs_feature",
    "one": "root_run_pairs_one",
    "other": "root_run_pairs_other",
    "kind": "root_run_pairs_kind",
    "group": "root_run_pairs_group",
    "aside": "root_run_pairs_aside",
    "law": "root_run_pairs_group_law",
    "pressed": "root_run_pairs.last",
    "pressed_pair": "root_run_pairs_last_pair",
    "pressed_feature": "root_run_pairs_last_feature",
    "impulse": "root_run_pairs_last_impulse",
    "size": "root_run.size",
}
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


@dataclass(frozen=True)
class LiveRun:
    """A run that a page computes: its *code* and names, the *equations* of the machine, and the programs of its accelerations
    without contact forces, ``alone`` where they are beside those of the run.

    size : numbers of the state with what is behind it, of which the first is work if there are ``works``; order : of the motion;
    residuals : number of these behind what is observed
    """

    code: RunCode
    told: RunNames
    equations: Equations
    programs: Mapping[str, StraightLineProgram]
    alone: bool
    size: int
    order: int
    works: int
    residuals: int


def live_run(task: SimulationProblem) -> LiveRun:
    """The run of *task*."""
    stepped, made, layout = task.method == MOREAU, task.made.code.programs, task.made.code.layout
    if stepped:  # steps have no accelerations without contact forces
        made = compile_system(task.equations, task.made.forces, (), PROJECTED).programs
    numbers = len(task.y0), layout.order, layout.works, layout.levels
    code = run_code(task)
    if isinstance(code.record, StandaloneFallback):
        code = replace(code, fields={**code.fields, "hurried": "root.hurried"})
    return LiveRun(code, run_names(task), task.equations, made, stepped, *numbers)


def live_touching(equations: Equations, found: TouchingRun) -> LiveRun:
    """The run of bodies of *equations* that may touch each other."""
    plain, record = found.equations, found.code.record
    made = compile_system(plain, found.forces, (), treatment(plain, BY_EVENTS)).programs
    residuals = len(record.array("values")) - len(found.told.observed)
    code = replace(found.code, fields={**found.code.fields, **_PAIRS})
    return LiveRun(code, found.told, equations, made, True, len(found.told.states) + 1, 2, 1, residuals)


def live_module(run: LiveRun) -> PageModule:
    """The module of a *run*, with its poses and the forces of a hand."""
    code, told, made, system = run.code, run.told, run.programs, run.equations.system
    record = code.record.events if isinstance(code.record, StandaloneFallback) else code.record
    for start in (record.array("start"), record.run.array("y")):
        start[: system.nq + system.nv] = 0.0  # which the page tells each run
    held, drawn = hand(run.equations), scene(run.equations)
    bounds, defined, starts = limits(run.equations), domains(run.equations), start_values(run.equations)
    alone = made["free" if "free" in made else "rate"]
    sizes = _poses(drawn, system.nq, system.nv, len(told.p)) | {
        "y": max(run.size, alone.inputs[1].size),
        "given": len(told.p) + system.nv,
        "block": made[SETUP].n_outputs + max(room(made[SETUP]), room(alone)),
        "rates": alone.n_outputs,
        "grip": held.inputs[-1].size,
        "held": held.n_outputs + room(held),
        "limits": bounds.program.n_outputs + room(bounds.program),
        "starts": starts.program.n_outputs + room(starts.program),
        "operands": defined.program.n_outputs + room(defined.program),
    }
    programs = _of_scene(drawn) | {"hand": held, "limits": bounds.program, "operands": defined.program}
    if starts.places:
        programs |= {"starts": starts.program}
    if run.alone:
        programs |= {"setup_free": made[SETUP], "free": alone}
    pairs = _pairs(record)
    found = wasm_run(code, told, _trees(programs) | _listing(pairs), 8 * sum(sizes.values()))
    known = dict(found.known)
    known["INFORMATION"] |= {
        "size": run.size,
        "order": run.order,
        "works": run.works,
        "limits": bounds.told,
        "starts": starts.places,
        "domains": defined.told,
        "residuals": run.residuals,
        "pairs": pairs,
        "accelerations": {
            "setup": "setup_free" if run.alone else "setup",
            "function": "free" if run.alone or "free" in made else "rate",
            "first": 0 if "free" in made else system.nq,
        },
    }
    return PageModule(found.module, known, _arena(sizes, found.free))


def _pairs(record: StandaloneRun | StandaloneSteps) -> dict[str, int] | None:
    """What the page is told of pairs of bodies that may touch each other: how the numbers of their features lie."""
    if not isinstance(record, StandaloneSteps) or not record.run.pairs.shapes:
        return None
    return {"numbers": FEATURE_NUMBERS, "gap": GAP, "round": ROUND, "place": PLACE, "normal": NORMAL, "plane": PLANE}


def _listing(pairs: Mapping[str, int] | None) -> dict[KernelTree, str]:
    """The kernel that lists the features of pairs that are near; none without pairs."""
    return {} if pairs is None else dict.fromkeys(translate_unit((list_features,)), "list_features")


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
