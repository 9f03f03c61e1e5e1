"""The file of a page: what it is told of a machine and its run, between the parts that all pages share."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from kineta.equations.equations import Equations, equations_of
from kineta.equations.function import parameter_values
from kineta.errors import ArgumentError, KinetaError, SimulationError, warn
from kineta.hybrid.automaton import check_first_mode
from kineta.integration.solver import AUTO
from kineta.integration.time_stepping import MOREAU, STEP
from kineta.model import units
from kineta.model.contacts.mutual_contact import mutual_contacts
from kineta.model.dimensions import variable_units
from kineta.numerics.tableaux import TABLEAUX
from kineta.page import kept_pages
from kineta.page.compression import compressed
from kineta.page.equations import equations_html, labels, math_style, model_html
from kineta.page.live_run import LiveRun, live_module, live_run, live_touching, still_module
from kineta.page.mesh_encoding import encoded_meshes
from kineta.page.page_file import put
from kineta.page.recorded_run import SAMPLES, Recorded, clockwork, is_pushed, recorded_run, recorded_series, still
from kineta.results.result import Result
from kineta.scene.construction import COLOURS, PALETTE, TRIAD
from kineta.scene.height_fields import waves
from kineta.scene.machine import Machine
from kineta.scene.system_scene import scene
from kineta.simulation.simulate import simulate
from kineta.tasks.export.exported_run import exported_problem, touching_run
from kineta.tasks.export.touching_record import MOST_SHAPES, over
from kineta.tasks.moving_machine import tell_failure
from kineta.tasks.posture import Posture, posture

#: Files of the page beside this one.
_HERE = Path(__file__).parent
#: Seconds of a run unless others are asked for; the page ends it where bodies have flown apart.
SECONDS = 10.0
#: The note of a page without a hand.
ABSORBED = (
    "No hand pulls here: under programs of motion of order 3 or higher, control takes up at once what a hand would add."
)
#: Why a machine whose programs are held through the rest of the system is replayed.
HELD = (
    "The motion that kineta servo finds is replayed, without sliders and hand: actuators hold the programs of motion "
    "through the rest of the system."
)
#: The note of a page whose machine moves by time stepping.
STEPPED = f"Here all of the motion is found by time stepping, in steps of {STEP:g} s."
#: Steps, times its speeds, in which the motion of a page is tried for a failure, that is told where the page is made: steps of
#: many speeds are dear, and the page itself tells of what comes later.
TRIED = 12_000
#: Samples in a second of a run that is replayed.
RATE = 120
#: What a page may do: show itself, and run its own scripts and its module of WebAssembly. It loads nothing.
_POLICY = (
    "default-src 'none'; script-src {script} 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "media-src blob:; font-src data:; base-uri 'none'; form-action 'none'"
)


def posture_page(found: Posture) -> str:
    """The page of a machine that moves from a posture."""
    equations, system = equations_of(found.system), found.system
    seconds = SECONDS if found.to is None else found.to
    span = found.t, found.t + seconds
    samples = max(2, min(SAMPLES, round(seconds * RATE) + 1))
    if not system.nv:
        return _page(equations, found, span, clockwork(found, seconds, samples), "It moves with the time alone.")
    why = _replayed(_too_many(equations))
    try:
        if not why and (touching := _touching(equations, found, span)):
            return _page(equations, replace(found, notes=(*found.notes, STEPPED)), span, None, "", live=touching)
        if why:
            run = simulate(equations, span, q=found.q, v=found.v, p=found.p, samples=samples)
            tell_failure(run, "page")
            return _page(equations, found, span, recorded_run(run), why)
        page, tried = _page(equations, found, span, None, ""), TRIED // max(4, system.nv)
        tell_failure(simulate(equations, span, q=found.q, v=found.v, p=found.p, samples=2, max_steps=tried), "page")
        return page
    except KinetaError as error:
        if held := _held(equations, found, span, samples):
            return _page(equations, found, span, held, HELD)
        if not isinstance(error, SimulationError):
            raise
        warn(f"{str(error).rstrip('.')}. The page shows the machine at rest where it is.")
        return _page(equations, found, span, still(found, str(error)), str(error))


def _held(equations: Equations, found: Posture, span: tuple[float, float], samples: int) -> Recorded | None:
    """The motion in which actuators hold programs of motion through the rest of the system; None where they do not."""
    if not equations.system.programs:
        return None
    servo = import_module("kineta.tasks.servo.servo").servo  # needs SciPy, which browsers load late
    try:
        return recorded_series(servo(equations, span, q=found.q, v=found.v, p=found.p, samples=samples))
    except KinetaError:
        return None


def computed_page(found: Posture) -> str:
    """The page of a machine of whose run nothing is computed here, as a browser makes it: what does not run in a page stands
    still, and equations come when they are asked for.
    """
    equations, seconds = equations_of(found.system), SECONDS if found.to is None else found.to
    reasons = ["it moves with the time alone"] * (not found.system.nv)
    many = [c.name for c in mutual_contacts(found.system) if not c.few]
    reasons += [f"'{name}' is of more bodies than a browser looks at" for name in many]
    reasons += ["the start under programs of motion is not found in a browser"] * bool(found.system.programs)
    why = f"It stands still here: {reasons[0]}; 'kineta show' replays its run." if reasons else ""
    return _page(equations, found, (found.t, found.t + seconds), still(found, why) if why else None, why, asked=True)


def run_page(run: Result) -> str:
    """The page of a run of one motion, which may be changed where the model runs in a page.

    Raises :class:`ArgumentError` for a run of several cases, and for one from a file.
    """
    if run.system is None or run.cases is not None:
        found = f"one of {len(run.cases)} cases: give case(i)" if run.cases else "one from a file, which knows no model"
        raise ArgumentError(f"Run of '{run.model}': expected one motion of a known model to show, found {found}.")
    system = run.system
    p = parameter_values(system, dict(run.parameters))
    nq = len(run.q_names)
    at = posture(
        system, run.y[:nq, 0], run.y[nq : nq + len(run.v_names), 0], p, t=float(run.t[0]), assembled=False, to=1.0
    )
    reasons = _too_many(equations_of(system))
    reasons += ["forces were given beside those of the model"] * is_pushed(run)
    reasons += [f"the method {run.method} is not in the page"] * (run.method not in (*TABLEAUX, MOREAU))
    stepped = run.method == MOREAU
    reasons += [f"switches by the method {MOREAU} are not in the page"] * (stepped and bool(system.switches))
    reasons += ["it runs backwards in time"] * bool(run.t[-1] < run.t[0])
    n = nq + len(run.v_names)
    levels = dict(zip(run.level_names, run.y[n : n + len(run.level_names), 0].tolist(), strict=True)) or None
    span = float(run.t[0]), float(run.t[-1])
    method, equations = MOREAU if stepped else AUTO, equations_of(system)
    why, recorded = _replayed(reasons), recorded_run(run)
    live = None if why or not stepped else _touching(equations, at, span, method)
    return _page(equations, at, span, recorded, why, levels=levels, method=method, live=live)


def _touching(equations: Equations, at: Posture, span: tuple[float, float], method: str = AUTO) -> LiveRun | None:
    """The run of bodies that may touch each other; None where there are none that are stepped together."""
    found = touching_run(equations, span, (at.q, at.v, at.p, None, None), (), method, _tolerances(), None)
    return None if found is None else live_touching(equations, found)


def _tolerances() -> tuple[float, float, float]:
    """The relative and the absolute tolerance of runs, and their longest step [s]."""
    return kept_pages.RTOL, kept_pages.ATOL, math.inf


def _too_many(equations: Equations) -> list[str]:
    """Why pages do not run a model: contacts of more bodies than have names, and outputs that tell of several of them."""
    many = mutual_contacts(equations.system)
    if not many or all(c.few for c in many):
        return []
    if sum(len(c.members) for c in many) > MOST_SHAPES:
        return [f"'{many[0].name}' is of more bodies than pages look at"]
    return [f"output '{o.name}' tells of several bodies that may touch each other" for o in over(equations)[:1]]


def _replayed(reasons: Iterable[str]) -> str:
    """The sentence on a run that is not computed in the page, for these *reasons*; ``''`` without one."""
    told = "; ".join(reasons)
    return f"A run that was computed before is replayed, without sliders and hand: {told}." if told else ""


def show_run(run: Result, path: str | Path | None) -> Path:
    """Write the page of a run, or open it; return its path."""
    return put(run_page(run), run.model, path)


def _page(
    equations: Equations,
    at: Posture,
    span: tuple[float, float],
    recorded: Recorded | None,
    why: str,
    *,
    asked: bool = False,
    levels: Any = None,
    method: str = AUTO,
    live: LiveRun | None = None,
) -> str:
    system = at.system
    if why:
        module = still_module(equations)
    elif live is not None:
        module = live_module(live)
    else:
        task = exported_problem(equations, span, (at.q, at.v, at.p, None, levels), (), method, _tolerances(), None)
        if not asked:  # which runs machine code
            check_first_mode(task)
        module, equations = live_module(live_run(task)), task.equations
        notes = at.notes if task.made.code.layout.order == 2 else (*at.notes, ABSORBED)
        at = replace(at, q=task.y0[: system.nq], v=task.y0[system.nq : system.nq + system.nv], notes=notes)
    information = module.known.get("INFORMATION", {})
    shown = (*system.q_names, *system.state_names, *system.v_names, *information.get("observed", ()))
    series = () if recorded is None else recorded["samples"]["columns"]
    data = {
        "model": system.name,
        "wasm": compressed(module.module),
        **_names(at, {} if recorded is None else recorded["units"]),
        "labels": labels((*shown, *series, *system.parameter_names)),
        "t": span,
        "fit": at.to is None,
        "scene": _scene(at),
        "module": {"known": module.known, "arena": module.arena},
        "recorded": recorded,
        "why": why,
        "asked": asked,
        "notes": at.notes,
    }
    words = {
        "POLICY": _POLICY.format(script=script_hashes()),
        "TITLE": escape(system.name),
        "SIZE": escape(system.size),
        "STYLE": math_style() + _text("app.min.css"),
        "EQUATIONS": "" if asked else equations_html(equations),
        "MODEL": model_html(system),
        "DATA": compressed(json.dumps(data, separators=(",", ":")).encode()),
        "LICENCES": _text("licences.txt"),
        "SCRIPT": _packed_script(),
        "LOADER": _text("loader.js"),
    }
    return re.sub("@([A-Z]+)@", lambda m: words[m[1]], _text("shell.html"))


@cache
def _packed_script() -> str:
    return compressed(_text("app.min.js").encode())


@cache
def script_hashes() -> str:
    """The hashes of the two scripts of all pages, that which unpacks and that which it unpacks, as content-security policies have
    them.
    """
    digests = (sha256(_text(name).encode()).digest() for name in ("loader.js", "app.min.js"))
    return " ".join(f"'sha256-{base64.b64encode(x).decode()}'" for x in digests)


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _names(at: Posture, known: Mapping[str, str]) -> dict[str, Any]:
    """Names, units and values of coordinates, with the first-order states behind them, of speeds and parameters."""
    system = at.system
    free = [p for p in system.parameters if not p.fixed]
    return {
        "q": system.q_names,
        "states": system.state_names,
        "v": system.v_names,
        "units": variable_units(system) | dict(known),
        "start": {"q": at.q.tolist(), "v": at.v.tolist()},
        "parameters": [
            {"name": p.name, "value": x, "unit": "" if p.dimension is None else units.symbol(p.dimension)}
            for p, x in zip(free, at.p.tolist(), strict=True)
        ],
    }


def _scene(at: Posture) -> dict[str, Any]:
    """The scene as plain data."""
    found = scene(at.system)
    machine = Machine(found, at.p, at.t, at.q, at.v)
    dressed, surfaces = encoded_meshes(found)
    return {
        "bodies": found.bodies,
        "owners": found.frames,
        "places": dict(found.places),
        "solids": [
            {
                "kind": s.kind,
                "frame": s.frame,
                "to": s.to,
                "owner": s.owner,
                "part": s.part,
                "name": "" if s.kind == "mesh" else s.name,
                "colour": s.colour,
                "numbers": dict(s.numbers),
                "skin": dressed.get(k),
            }
            for k, s in enumerate(found.solids)
        ],
        "surfaces": surfaces,
        "normal": found.normal,
        "up": found.up,
        "towards": list(at.towards) if at.towards else machine.numbers[list(found.towards)].tolist(),
        "trails": [{"name": x.name, "at": x.at} for x in found.trails],
        "arrows": [{"name": x.name, "at": x.at, "force": x.force} for x in found.arrows],
        "touches": [{"name": x.name, "at": x.at, "axes": x.axes, "friction": x.friction} for x in found.touches],
        "hinges": dict(found.hinges),
        "waves": waves(found.heights),
        "numbers": len(machine.numbers),
        "radius": machine.radius,
        "size": machine.size,
        "palette": PALETTE,
        "triad": TRIAD,
        "colours": dict(COLOURS),
    }
