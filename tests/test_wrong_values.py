"""Every public name, given wrong values in place of each of its arguments: a sentence of kineta, never an error of Python.

The operators of expressions are the exception: of what they cannot work with they raise ``TypeError``, as Python's own do.
"""

from __future__ import annotations

import datetime
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import KinetaError


class Broken:
    """An object that fails at whatever is done with it."""

    def _fails(self, *_: object, **__: object) -> Any:
        raise RuntimeError("broken")

    __array__ = __bool__ = __float__ = __index__ = __iter__ = __len__ = __repr__ = __str__ = __getattr__ = _fails


def close(axes: Any) -> None:
    """Close the picture of *axes*."""
    import matplotlib.pyplot as plt

    plt.close(axes.figure)


q = kn.symbol("q")

#: What is right for no argument.
NONSENSE: dict[str, Any] = {
    "bytes": b"ab",
    "bytearray": bytearray(b"ab"),
    "date": datetime.date(2020, 1, 1),
    "time": np.datetime64("2020-01-01"),
    "duration": np.timedelta64(3, "s"),
    "complex": 1 + 2j,
    "masked": np.ma.masked_array([1.0, 2.0], [True, False]),
    "set": {1, 2},
    "function": lambda *_: 0.0,
    "class": int,
    "object": object(),
    "broken": Broken(),
    "pair of broken": [Broken(), Broken()],
    "row of names": [{"a": 1}, None],
}
#: What is right for some.
STRANGE: dict[str, Any] = {
    "None": None,
    "text": "abc",
    "no text": "",
    "NUL": "a\0b",
    "half a character": "\ud800",
    "long": "x" * 10_000,
    "huge": 10**400,
    "row with huge": [10**400],
    "large": 10**12,
    "nan": math.nan,
    "true": True,
    "number": 0.5,
    "negative": -1,
    "row": [1.0, 2.0],
    "nothing": [],
    "no names": {},
    "number for a name": {0: 1.0},
    "None for a name": {"q": None},
    "ragged": [[1], [1, 2]],
    "expression": q,
    "array of objects": np.array([q, None]),
    "array of truths": np.array([True]),
    "record": np.zeros(2, [("a", "f8")]),
}

BODY = kn.body("B", [kn.Rz(q)], kn.inertia(1, (1, 1, 1)))
SYSTEM = kn.System("S", [BODY], parameters={"m": 1.0}, outputs={"x": kn.symbol("B.x")})
EQUATIONS = kn.derive(SYSTEM)
MOVED = kn.kinematics(SYSTEM, {"q": "t"}, t=[0.0, 1.0])
BASE = kn.base_parameters(SYSTEM)
SPRUNG = kn.loads("parameters k = 1; B | Rz(q) = Jz(1); spring s = k on q;")
CYCLES = kn.periodic_family(
    kn.loads("A | Sx(q) = 1; parameters k = 1; force f = -q - 0.1*q' + k*cos(t) on q;"), "k", 1.1, 2 * np.pi, points=2
)
FAMILY = kn.family(SPRUNG, "k", 2.0, points=3)
HELD = SYSTEM.replace(programs=(kn.program("path", q - kn.sin(kn.symbol("t"))),))
SERVO = kn.servo(HELD, 0.1, actuators=["q'"], samples=3)
RUN = kn.simulate(EQUATIONS, 0.1, dense_output=True)
STATE = {"t": 0.0, "q": [0.1], "v": [0.2]}
FREE = {"location": None}

#: Public names, each as a call and arguments that are right.
#: Functions of one number.
_OF_ONE = "acos asin atan ceil cos cosh exp floor log sign sin sinh sqrt step tan tanh".split()

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{n: (getattr(kn, n), {"x": q}) for n in _OF_ONE},
    **{n: (getattr(kn, n), {"x": q, "y": 1.0}) for n in ("atan2", "hypot", "maximum", "minimum", "mod")},
    "table": (kn.table, {"x": q, "points": [(0.0, 1.0), (1.0, 2.0)], "kind": "linear", "periodic": False, "outside": "hold"}),
    "where": (kn.where, {"condition": q < 1, "x": q, "y": 1.0}),
    "symbol": (kn.symbol, {"name": "q"}),
    "symbols": (kn.symbols, {"names": "q w"}),
    "Expr": (q.subs, {"old": q, "new": 1.0}),
    "Expr.diff": (q.diff, {"x": q}),
    "Expr.<": (q.__lt__, {"other": None}),
    **{n: (getattr(kn, n), {"angle": q}) for n in ("Rx", "Ry", "Rz")},
    **{n: (getattr(kn, n), {"distance": q}) for n in ("Sx", "Sy", "Sz")},
    "R": (kn.R, {"axis": (1, 0, 0), "angle": q}),
    "S": (kn.S, {"axis": (1, 0, 0), "distance": q}),
    "Rotation": (kn.Rotation, {"axis": (1, 0, 0), "angle": q}),
    "Shift": (kn.Shift, {"axis": (1, 0, 0), "distance": q}),
    "Ball": (kn.Ball, {"name": "b"}),
    "Free": (kn.Free, {"name": "b"}),
    "inertia": (kn.inertia, dict.fromkeys(("mass", "moments", "products", "com", "lumped", "unchecked"))),
    "Inertia": (kn.Inertia, dict.fromkeys(("mass", "moments", "products", "com", "lumped", "unchecked"))),
    "body": (kn.body, {"name": "B", "motions": [kn.Rz(q)], "inertia": kn.inertia(1), "base": "ground"}),
    "Body": (kn.Body, {"name": "B", "base": "ground", "motions": (kn.Rz(q),), "inertia": kn.inertia(1), **FREE}),
    "point": (kn.point, {"name": "P", "body": "B", "position": (0, 0, 1)}),
    "Point": (kn.Point, {"name": "P", "body": "B", "position": (0, 0, 1), **FREE}),
    "station": (kn.station, {"at": "B", "position": (0, 0, 1)}),
    "Station": (kn.Station, {"body": "B", "position": (0, 0, 1)}),
    "force": (kn.force, {"name": "f", "at": "B", "components": (1, 1, 1), "axes": "ground"}),
    "couple": (kn.couple, {"name": "c", "body": "B", "components": (1, 1, 1), "axes": "ground"}),
    "spring": (kn.spring, {"name": "s", "stiffness": 1, "deformation": q}),
    "damper": (kn.damper, {"name": "d", "damping": 1, "rate": q}),
    "generalized_force": (kn.generalized_force, {"name": "f", "characteristic": 1, "coordinate": q}),
    "line_spring": (kn.line_spring, {"name": "s", "stiffness": 1, "start": "ground", "end": "B", "length": 1}),
    "line_damper": (kn.line_damper, {"name": "d", "damping": 1, "start": "ground", "end": "B"}),
    "line_force": (kn.line_force, {"name": "f", "characteristic": 1, "start": "ground", "end": "B"}),
    "constraint": (kn.constraint, {"name": "c", "value": q}),
    "Constraint": (kn.Constraint, {"name": "c", "value": q, **FREE}),
    "loop": (
        kn.loop,
        {"name": "E", "joint": "gear", "start": "A", "end": "B", "axis": (0, 0, 1), "end_axis": (0, 0, 1), "value": 2.0},
    ),
    "Loop": (
        kn.Loop,
        {"name": "E", "joint": "gear", "start": kn.station("A"), "end": kn.station("B"), "axis": (0, 0, 1)}
        | {"end_axis": (0, 0, 1), "value": 2.0, **FREE},
    ),
    "rolling": (
        kn.rolling,
        {"name": "W", "shape": "wheel", "sizes": 0.3, "start": "A", "end": "ground", "normal": (0, 0, 1), "axis": (0, 1, 0)}
        | {"surface": "B"},
    ),
    "Rolling": (
        kn.Rolling,
        {"name": "W", "shape": "wheel", "sizes": (0.3,), "start": kn.station("A"), "end": kn.station("ground")}
        | {"normal": (0, 0, 1), "axis": (0, 1, 0), "surface": "B", **FREE},
    ),
    "contact": (
        kn.contact,
        {"name": "c", "shape": "wheel", "starts": ["A", "B"], "end": "ground", "normal": (0, 0, 1), "sizes": 0.3}
        | {"axis": (0, 1, 0), "height": q, "restitution": 0.5, "law": "poisson", "friction": 0.5, "static": 0.6, "smooth": 0.1},
    ),
    "Contact": (
        kn.Contact,
        {"name": "c", "shape": "wheel", "sizes": (0.3,), "starts": (kn.station("A"),), "end": kn.station("ground")}
        | {"normal": (0, 0, 1), "axis": (0, 1, 0), "height": q, "restitution": 0.5, "poisson": True, "friction": 0.5}
        | {"static": 0.6, "smooth": 0.1, **FREE},
    ),
    "mutual_contact": (
        kn.mutual_contact,
        {"name": "c", "shapes": [("ball", 0.3, ["A", "B"])], "restitution": 0.5, "law": "poisson", "friction": 0.5}
        | {"static": 0.6, "overlap": 0.01},
    ),
    "MutualContact": (
        kn.MutualContact,
        {"name": "c", "shapes": (kn.AlikeShapes("ball", (0.3,), (kn.station("A"), kn.station("B"))),), "restitution": 0.5}
        | {"poisson": True, "friction": 0.5, "static": 0.6, "overlap": 0.01, **FREE},
    ),
    "AlikeShapes": (kn.AlikeShapes, {"shape": "ball", "sizes": (0.3,), "places": (kn.station("A"),)}),
    "limit": (kn.limit, {"name": "l", "value": q, "lower": 0, "upper": 1, "restitution": 0.5, "law": "newton"}),
    "Limit": (kn.Limit, {"name": "l", "value": q, "lower": 0, "upper": 1, "restitution": 0.5, "poisson": False, **FREE}),
    "friction": (kn.friction, {"name": "f", "force": 1, "coordinate": q, "static": 2, "smooth": None}),
    "Friction": (kn.Friction, {"name": "f", "force": 1, "coordinate": q, "static": 2, **FREE}),
    "CompliantContact": (
        kn.CompliantContact,
        {"name": "c", "shape": "ball", "sizes": (0.3,), "starts": (kn.station("A"),), "end": kn.station("ground")}
        | {"normal": (0, 0, 1), "stiffness": 1e3, "law": "hunt_crossley", "damping": 0.1, "friction": 0.5, "smooth": 0.1}
        | FREE,
    ),
    "SmoothFriction": (kn.SmoothFriction, {"name": "f", "force": 1, "coordinate": q, "smooth": 0.1, **FREE}),
    "switch": (kn.switch, {"name": "s", "value": q, "sets": {"q": 1}, "guards": {"m": 1}, "stop": False}),
    "Switch": (
        kn.Switch,
        {"name": "s", "value": q, "guards": (("m", 1),), "sets": (("q", 1),), "stop": False, **FREE},
    ),
    "shape": (
        kn.shape,
        {"body": "A", "solid": "mesh", "sizes": 1.0, "file": "a.stl", "scale": 2.0, "start": (0, 0, 0), "end": (0, 0, 1)}
        | {"at": (0, 0, 1), "axis": (0, 1, 0), "turns": [kn.Rx(1)], "colour": "red"},
    ),
    "BodyShape": (
        kn.BodyShape,
        {"name": "A", "solid": "mesh", "sizes": (1.0,), "file": "a.stl", "scale": (1, 1, 1), "start": (0, 0, 0)}
        | {"end": (0, 0, 1), "at": (0, 0, 1), "axis": (0, 1, 0), "turns": (kn.Rx(1),), "colour": "red", **FREE},
    ),
    "mark": (kn.mark, {"what": "path", "of": "A"}),
    "Mark": (kn.Mark, {"name": "path", "of": "A", **FREE}),
    "view": (kn.view, {"towards": (1, 1, 1)}),
    "Viewpoint": (kn.Viewpoint, {"name": "from", "towards": (1, 1, 1), **FREE}),
    "dot": (kn.dot, {"a": (q, 1, 2), "b": kn.vector("v", "B")}),
    "cross": (kn.cross, {"a": (q, 1, 2), "b": kn.vector("v", "B")}),
    "norm": (kn.norm, {"a": (q, 1, 2)}),
    "vector": (kn.vector, {"kind": "a", "of": "B", "frame": "B"}),
    "program": (kn.program, {"name": "p", "value": q}),
    "Program": (kn.Program, {"name": "p", "value": q, **FREE}),
    "control": (kn.control, {"law": "kineta", "actuators": ["q'"], "transversal": {"q'": 1.0}}),
    "Control": (kn.Control, {"law": "kineta", "actuators": (("q'", 1),), "transversal": (("q'", 1),), **FREE}),
    "quasi": (kn.quasi, {"name": "u", "value": q}),
    "state": (kn.state, {"name": "z", "rate": q, "unit": "A"}),
    "Quasi": (kn.Quasi, {"name": "u", "value": q, **FREE}),
    "State": (kn.State, {"name": "z", "rate": q, "unit": "A", **FREE}),
    "independent": (kn.independent, {"system": SYSTEM}),
    "system_graph": (kn.system_graph, {"system": SYSTEM, "order": ["B"], "outward": ["B"], "root": "ground"}),
    "augmented_bodies": (
        lambda **given: kn.augmented_bodies(**{"system": SYSTEM, **given}),
        {"system": SYSTEM, "q": [0.1], "p": {"m": 1.0}, "t": 0.0, "order": ["B"], "outward": ["B"], "root": "ground"},
    ),
    "structure_matrices": (
        lambda **given: kn.structure_matrices(**{"system": SYSTEM, **given}),
        {"system": SYSTEM, "q": [0.1], "v": [0.1], "p": {"m": 1.0}, "t": 0.0},
    ),
    "StructureMatrices.split": (kn.structure_matrices(SPRUNG).split, {"unknown": ["s"]}),
    "first_integrals": (kn.first_integrals, {"system": None}),
    "extremes": (lambda **given: kn.extremes(lambda t: {"x": t}, **given), {"t": [0.0, 1.0]}),
    "inertia_element": (kn.inertia_element, {"name": "I", "inertia": 2.0, "rate": q}),
    "potential": (kn.potential, {"name": "V", "energy": q}),
    "Let": (kn.Let, {"name": "a", "value": q, **FREE}),
    "Output": (kn.Output, {"name": "a", "value": q, **FREE}),
    "Parameter": (kn.Parameter, {"name": "m", "value": 1.0, "fixed": False, **FREE}),
    "System": (
        kn.System,
        {"name": "S", "bodies": [BODY], "gravity": (0, 0, 1), "coordinates": ["q"], "parameters": {"m": 1.0}}
        | {"elements": [], "points": [], "initial": {"q": 1.0}, "outputs": {"x": q}, "lets": {}}
        | {"constraints": [], "quasi": [], "states": [], "contacts": [], "switches": [], "programs": [], "control": kn.control()},
    ),
    "System.fixed": (SYSTEM.fixed, {"names": ["m"]}),
    "System.replace": (SYSTEM.replace, {"name": "T", "bodies": [BODY], "initial": {"q": 1}}),
    "System.expand": (lambda x: SYSTEM.expand(x), {"x": q}),
    "dumps": (kn.dumps, {"system": SYSTEM}),
    "loads": (kn.loads, {"text": "model m; B | Rz(q) = 1, 1, 1, 1;", "file": "a"}),
    "load": (kn.load, {"path": "missing.kin", "floating": False, "limits": True}),
    "load_result": (kn.load_result, {"path": "missing.nc"}),
    "from_sympy": (kn.from_sympy, {"value": 1}),
    "derive": (kn.derive, {"system": SYSTEM, "formalism": "newton_euler"}),
    **{
        f"Equations.{n}": (getattr(EQUATIONS, n), {"quantity": "bias"})
        for n in "expressions formulas programs operations explain text latex sympy".split()
    },
    "Equations.text, parts": (EQUATIONS.text, {"quantity": "bias", "parts": True}),
    "Equations.latex, parts": (EQUATIONS.latex, {"quantity": "bias", "parts": True}),
    "Equations.function": (EQUATIONS.function, {"quantity": "bias", "backend": "numpy"}),
    "Function": (EQUATIONS.function("forward", "numpy"), {**STATE, "tau": 0.0, "p": None}),
    "Function.bind": (EQUATIONS.function("bias", "numpy").bind, {"p": {"m": 1.0}}),
    "Function with p": (lambda m: EQUATIONS.function("bias", "numpy")(**STATE, p={"m": m}), {"m": 1.0}),
    "Function.integrand": (
        EQUATIONS.function("kinetic_energy").integrand,
        {"variables": "q"} | STATE,
    ),
    "SystemGraph.base": (kn.system_graph(SYSTEM).base, {"i": 1}),
    "FirstIntegral.along": (kn.first_integrals(EQUATIONS)[0].along, {"run": RUN}),
    "event": (kn.event, {"value": q, "terminal": False, "direction": 0, "name": "e"}),
    "Event": (kn.Event, {"value": q, "terminal": False, "direction": 0, "name": "e"}),
    "sampled": (kn.sampled, {"values": [0.5, 1.0], "rate": 10.0}),
    "simulate": (
        lambda **given: kn.simulate(**{"system": EQUATIONS, "t": 0.001, "max_steps": 10, **given}),
        {"system": EQUATIONS, "t": 0.001, "q": [0.1], "v": [0.1], "p": {"m": 1.0}, "tau": [0.0], "method": "dop853"}
        | {"rtol": 1e-6, "atol": 1e-9, "t_eval": None, "samples": None, "dense_output": False, "events": ()}
        | {"max_step": 1.0, "max_steps": 10, "progress": False},
    ),
    "export_run": (
        lambda **given: kn.export_run(**{"system": EQUATIONS, "t": 0.001, **given}),
        {"system": EQUATIONS, "t": 0.001, "q": [0.1], "v": [0.1], "p": {"m": 1.0}, "language": "c", "name": "run"}
        | {"method": "dop853", "rtol": 1e-6, "atol": 1e-9, "events": (), "max_step": 1.0, "max_steps": 10},
    ),
    "simulate, cases": (lambda method: kn.simulate(EQUATIONS, 0.001, q=[[0.1], [0.2]], method=method), {"method": "dop853"}),
    "assemble": (
        lambda **given: kn.assemble(**{"system": SYSTEM, **given}),
        {"system": SYSTEM, "q": [0.1], "v": [0.1], "p": {"m": 1.0}, "t": 0.0, "pinned": ["q"]},
    ),
    "report": (
        lambda **given: kn.report(**{"system": EQUATIONS, "t": 0.001, **given}),
        {"system": EQUATIONS, "t": 0.001, "q": [0.1], "v": [0.1], "p": {"m": 1.0}},
    ),
    "posture": (
        lambda **given: kn.posture(**{"system": SYSTEM, **given}),
        {"system": SYSTEM, "q": [0.1], "v": [0.1], "p": {"m": 1.0}, "t": 0.0, "assembled": True, "towards": (1, 2, 3)},
    ),
    **{
        n: (
            lambda n=n, **given: getattr(kn, n)(**{"system": EQUATIONS, **given}),
            {"system": SYSTEM, "q": [0.1], "v": [0.1], "p": {"m": 1.0}, "tau": [0.0], "t": 0.0, "steady": ["q'"], "free": ["q'"]}
            | {"pinned": ["q"]} | more,
        )
        for n, more in (("equilibrium", {}), ("equilibria", {"starts": 1, "seed": 0}))
    },
    **{
        n: (
            lambda n=n, **given: getattr(kn, n)(**{"system": SPRUNG, **given}),
            {"system": SPRUNG, "about": {"q": 0.1}, "t": 0.0, "p": {"k": 1.0}, "tau": [0.0]} | more,
        )
        for n, more in (
            ("linearize", {"inputs": ["q'"], "outputs": ["q"], "states": ["q"]}),
            ("modes", {"states": ["q"]}),
            ("response", {"inputs": ["q'"], "outputs": ["q"]}),
        )
    },
    "linear_formulas": (
        lambda **given: kn.linear_formulas(**{"system": SPRUNG, **given}),
        {"system": SPRUNG, "about": {"q": 0.1}, "inputs": ["q'"], "outputs": ["q"]},
    ),
    "oscillation_formulas": (
        lambda **given: kn.oscillation_formulas(**{"system": SPRUNG, **given}),
        {"system": SPRUNG, "about": {"q": 0.0}},
    ),
    "io_system": (
        lambda **given: kn.io_system(**{"system": SPRUNG, **given}),
        {"system": SPRUNG, "inputs": ["q'"], "outputs": ["q"], "p": {"k": 1.0}},
    ),
    "response, frequency": (lambda **given: kn.response(SPRUNG, **given), {"frequency": [1.0]}),
    "sensitivity": (
        lambda **given: kn.sensitivity(**{"system": SPRUNG, "t": 0.001, "by": ["k"], "max_steps": 10, **given}),
        {"system": SPRUNG, "t": 0.001, "by": ["k"], "q": [0.1], "v": [0.1], "p": {"k": 1.0}, "tau": [0.0], "goals": {"g": q}}
        | {"method": "dop853", "rtol": 1e-6, "atol": 1e-9, "t_eval": None, "samples": None, "max_steps": 10},
    ),
    "Sensitivity": (kn.sensitivity(SPRUNG, 0.001, ["k"]).__getitem__, {"name": "q"}),
    "objective": (
        lambda **given: kn.objective(**{"system": SPRUNG, "t": 0.001, "by": ["k"], "final": q, **given}),
        {"system": SPRUNG, "t": 0.001, "by": ["k"], "integral": q, "final": q, "q": [0.1], "v": [0.1], "p": {"k": 1.0}}
        | {"tau": [0.0], "adjoint": False, "method": "dop853", "rtol": 1e-6, "atol": 1e-9},
    ),
    "Objective": (kn.objective(SPRUNG, 0.001, ["k"], final=q), {"x": [1.0]}),
    "fit": (
        lambda **given: kn.fit(**{"system": SPRUNG, "data": {"q": [0.1] * 3}, "by": ["k"], "t": [0, 1, 2], "q": [0.1], **given}),
        {"system": SPRUNG, "data": {"q": [0.1, 0.09, 0.08]}, "by": ["k"], "t": [0, 1, 2], "t0": 0.0, "q": [0.1], "v": [0.1]}
        | {"p": {"k": 1.0}, "tau": [0.0], "sigma": 1.0, "bounds": {"k": (0, 9)}, "level": 0.9, "rtol": 1e-6, "atol": 1e-9},
    ),
    "response, time": (lambda **given: kn.response(SPRUNG, **given), {"time": [1.0]}),
    "periodic": (
        lambda **given: kn.periodic(**{"system": SPRUNG, "guess": 2.0, "section": None, "keep": ["q"], **given}),
        {
            "system": SPRUNG,
            "guess": 2.0,
            "section": "floor",
            "q": None,
            "v": None,
            "p": None,
            "tau": None,
            "drifts": ["q"],
            "keep": ["q"],
            "t0": 0.0,
            "rtol": 1e-9,
            "atol": 1e-12,
        },
    ),
    "periodic_family": (
        lambda **given: kn.periodic_family(**{"system": SPRUNG, "parameter": "k", "to": 2.0, "guess": 2.0, **given}),
        {"system": SPRUNG, "parameter": "k", "to": 2.0, "guess": 2.0, "points": 3},
    ),
    "PeriodicFamily": (CYCLES.__getitem__, {"name": "q"}),
    "family": (
        lambda **given: kn.family(**{"system": SPRUNG, "parameter": "k", "to": 2.0, "points": 3, **given}),
        {"system": SPRUNG, "parameter": "k", "to": 2.0, "q": [0.1], "v": [0.1], "p": {"k": 1.0}, "tau": [0.0]}
        | {"steady": [], "free": [], "pinned": [], "branches": 2, "points": 3},
    ),
    "Family.plot": (
        lambda **given: FAMILY.plot(**{"name": "q", **given}), {"name": "q", "ax": None},
    ),
    "Branch": (lambda name: FAMILY.branches[0][name], {"name": "q"}),
    "kinematics": (
        lambda **given: kn.kinematics(**{"system": SYSTEM, "motion": {"q": "t"}, "t": [0.0, 1.0], **given}),
        {"system": SYSTEM, "motion": {"q": "t"}, "of": ["B"], "t": [0.0, 1.0], "p": {"m": 1.0}, "frame": "B"},
    ),
    "reactions": (
        lambda **given: kn.reactions(**{"system": SYSTEM, "motion": {"q": "t"}, "t": [0.0, 1.0], **given}),
        {"system": SYSTEM, "motion": {"q": "t"}, "of": ["B"], "t": [0.0, 1.0], "p": {"m": 1.0}, "frame": "B"},
    ),
    **{
        n: (
            lambda n=n, **given: getattr(kn, n)(**{"system": SYSTEM, "motion": {"q": "t"}, "t": [0.0, 1.0], **given}),
            {"system": SYSTEM, "motion": {"q": "t"}, names: ["q'"], "t": [0.0, 1.0], "p": {"m": 1.0}, "weights": {"q'": 1.0}},
        )
        for n, names in (("kinetostatics", "unknown"), ("inverse", "actuators"))
    },
    "inverse_kinematics": (
        lambda **given: kn.inverse_kinematics(**{"system": SYSTEM, "wanted": {"B.x": 0.0}, "starts": 1, **given}),
        {"system": SYSTEM, "wanted": {"B": (0, 0, 0)}, "q": [0.1], "p": {"m": 1.0}, "t": 0.0, "frame": "ground"}
        | {"limits": {"q": (-1, 1)}, "starts": 1, "seed": 0},
    ),
    "regressor": (
        lambda **given: kn.regressor(**{"system": SYSTEM, "motion": {"q": "t"}, "t": [0.0, 1.0], **given}),
        {"system": SYSTEM, "motion": {"q": "t"}, "t": [0.0, 1.0], "p": {"m": 1.0}},
    ),
    "base_parameters": (
        lambda **given: kn.base_parameters(**{"system": SYSTEM, **given}),
        {"system": SYSTEM, "p": {"m": 1.0}, "known": ["B.m"], "seed": 0},
    ),
    "excitation": (
        lambda **given: kn.excitation(**{"base": BASE, "motion": {"q": "sin(t)"}, "t": [0, 1, 2], **given}),
        {"base": BASE, "motion": {"q": "sin(t)"}, "t": [0.0, 1.0, 2.0], "p": {"m": 1.0}},
    ),
    "identify": (
        lambda **given: kn.identify(**{"base": BASE, "motion": {"q": "sin(t)"}, "tau": [[0.0]] * 3, "t": [0, 1, 2], **given}),
        {"base": BASE, "motion": {"q": "sin(t)"}, "tau": [[0.0]] * 3, "t": [0.0, 1.0, 2.0], "p": {"m": 1.0}},
    ),
    "servo": (
        lambda **given: kn.servo(**{"system": HELD, "t": 0.1, "samples": 3, **given}),
        {"system": HELD, "t": 0.1, "actuators": ["q'"], "q": [0.0], "v": [1.0], "p": {"m": 1.0}, "samples": 3}
        | {"rtol": 1e-6, "atol": 1e-6},
    ),
    "Servo": (lambda name: SERVO[name], {"name": "q"}),
    "statics": (
        lambda **given: kn.statics(**{"system": SYSTEM, **given}),
        {"system": SYSTEM, "q": [0.1], "unknown": ["q'"], "p": {"m": 1.0}, "t": 0.0, "weights": {"q'": 1.0}},
    ),
    "Kinematics": (lambda name: MOVED[name], {"name": "q"}),
    "Kinematics.plot": (lambda ax: MOVED.plot("q", ax=ax), {"ax": None}),
    "Kinematics.save": (MOVED.save, {"path": "missing/run.csv"}),
    "verify": (lambda **given: kn.verify(**{"system": None, **given}), {"system": SYSTEM, "states": 1, "digits": 0, "seed": 0}),
    "Result": (RUN.__getitem__, {"name": "q"}),
    "Result.plot": (lambda ax: RUN.plot("q", ax=ax), {"ax": None}),
    "Result.picture": (
        lambda **given: close(RUN.picture(**given)),
        {"t": 0.0, "case": 0, "towards": (1, 2, 3), "ax": None},
    ),
    "Result.animate": (
        lambda **given: RUN.animate(**{"path": "missing/run.gif", **given}),
        {"path": "missing/run.gif", "case": 0, "speed": 1.0, "towards": (1, 2, 3), "progress": False},
    ),
    "Result.save": (RUN.save, {"path": "missing/run.csv"}),
    "Result.sol": (RUN.sol, {"t": 0.05}),
}  # fmt: skip

#: Arguments that take nearly everything.
OPEN = {("Expr.<", "other"), ("inertia", "lumped"), ("Inertia", "lumped"), ("sampled", "values")}
#: Made by kineta, or raised by it.
MADE = {
    *(
        "Assembly",
        "Comparison",
        "AugmentedBodies",
        "Certificate",
        "Conditioning",
        "Equations",
        "Equilibrium",
        "Posture",
        "Report",
        "Excitation",
        "ExportedRun",
        "OscillationFormulas",
        "Extremes",
        "Family",
        "FirstIntegral",
        "Kinetostatics",
        "Linear",
        "LinearFormulas",
        "Modes",
        "Periodic",
    ),
    *(
        "Fit",
        "Operations",
        "BaseParameters",
        "Identification",
        "Placement",
        "Regressor",
        "Reactions",
        "Response",
        "Stiffness",
        "StructureMatrices",
        "SystemGraph",
    ),
}


def sentence(call: Callable[..., Any], given: dict[str, Any]) -> str:
    """What an error of kineta says of *given*; nothing where it is right."""
    try:
        call(**given)
    except KinetaError as error:
        return str(error)
    return ""


def test_every_public_name_is_tried() -> None:
    errors = {n for n in kn.__all__ if inspect.isclass(getattr(kn, n)) and issubclass(getattr(kn, n), Exception)}
    assert set(kn.__all__) - errors - MADE <= set(CALLS)


@pytest.mark.filterwarnings("ignore::kineta.errors.KinetaWarning")
@pytest.mark.parametrize("name", CALLS)
def test_wrong_values_get_a_sentence(name: str) -> None:
    call, right = CALLS[name]
    for argument in right:
        for what, wrong in {**NONSENSE, **STRANGE}.items():
            given = {a: v for a, v in right.items() if v is not None} | {argument: wrong}
            said = sentence(call, given)
            assert len(said) <= 2000
            assert said or what not in NONSENSE or (name, argument) in OPEN, (argument, what)
