"""kineta: a compiler for mechanics.

Describe a mechanical system, derive its equations of motion, compile them, and let it move::

    import kineta as kn

    system = kn.load("hopping_robot.kin")
    equations = kn.derive(system)
    equations.operations("forward")
    kn.simulate(system, 10.0).plot()

The public names are imported when they are first used, so that ``import kineta`` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = (
    False  # without an import: what is imported before the command listens to signals cannot be interrupted in order
)
if TYPE_CHECKING:
    from typing import Any

    from kineta.codegen.sympy import expression as from_sympy
    from kineta.compiler import Equations, derive
    from kineta.errors import (
        ArgumentError,
        ExpressionError,
        KinetaError,
        KinetaWarning,
        MissingPackageError,
        ModelError,
        SimulationError,
    )
    from kineta.expr.count import Operations
    from kineta.expr.function import (
        acos,
        asin,
        atan,
        atan2,
        cos,
        cosh,
        exp,
        log,
        maximum,
        minimum,
        sign,
        sin,
        sinh,
        sqrt,
        step,
        tan,
        tanh,
    )
    from kineta.expr.node import Expr, symbol, symbols
    from kineta.formalism.quasi import independent
    from kineta.function import Function
    from kineta.model.body import Body, Inertia, Point, Station, body, inertia, point, station
    from kineta.model.constraints.loop import Loop, loop
    from kineta.model.constraints.plain import Constraint, constraint
    from kineta.model.constraints.rolling import Rolling, rolling
    from kineta.model.contacts.contact import Contact, contact
    from kineta.model.contacts.friction import Friction, friction
    from kineta.model.contacts.limit import Limit, limit
    from kineta.model.elements.couple import couple
    from kineta.model.elements.damper import damper, line_damper
    from kineta.model.elements.force import force
    from kineta.model.elements.generalized import generalized_force, line_force
    from kineta.model.elements.inertia import inertia_element
    from kineta.model.elements.potential import potential
    from kineta.model.elements.spring import line_spring, spring
    from kineta.model.graph import SystemGraph, system_graph
    from kineta.model.io import dumps, load, loads
    from kineta.model.let import Let
    from kineta.model.motion import Ball, Free, R, Rotation, Rx, Ry, Rz, S, Shift, Sx, Sy, Sz
    from kineta.model.program import Control, Program, control, program
    from kineta.model.quasi import Quasi, quasi
    from kineta.model.switch import Switch, switch
    from kineta.model.system import Output, Parameter, System
    from kineta.model.vectors import vector
    from kineta.tasks.assemble import Assembly, assemble
    from kineta.tasks.base_parameters import BaseParameters, Identification, base_parameters, identify
    from kineta.tasks.certificate import Certificate
    from kineta.tasks.control import sampled
    from kineta.tasks.equilibrium import Equilibrium, equilibria, equilibrium
    from kineta.tasks.events import Event, event
    from kineta.tasks.family import Family, family
    from kineta.tasks.fit import Fit, fit
    from kineta.tasks.integrals import FirstIntegral, first_integrals
    from kineta.tasks.inverse_kinematics import Placement, inverse_kinematics
    from kineta.tasks.io_system import io_system
    from kineta.tasks.kinematics import Kinematics, kinematics
    from kineta.tasks.kinetostatics import Kinetostatics, inverse, kinetostatics, statics
    from kineta.tasks.linear import Linear
    from kineta.tasks.linear_formulas import LinearFormulas, linear_formulas
    from kineta.tasks.linearize import linearize
    from kineta.tasks.modes import Modes, modes
    from kineta.tasks.objective import Objective, objective
    from kineta.tasks.reactions import Reactions, reactions
    from kineta.tasks.reading import load_result
    from kineta.tasks.regressor import Regressor, regressor
    from kineta.tasks.response import Response, response
    from kineta.tasks.result import Result
    from kineta.tasks.sensitivity import Sensitivity, sensitivity
    from kineta.tasks.servo import Servo, servo
    from kineta.tasks.simulate import simulate
    from kineta.tasks.verify import verify

__version__ = "0.1.0"

_FROM = {
    "kineta.compiler": "Equations derive",
    "kineta.errors": "ArgumentError ExpressionError KinetaError KinetaWarning MissingPackageError ModelError SimulationError",
    "kineta.codegen.sympy": "from_sympy",
    "kineta.expr.count": "Operations",
    "kineta.expr.function": "acos asin atan atan2 cos cosh exp log maximum minimum sign sin sinh sqrt step tan tanh",
    "kineta.expr.node": "Expr symbol symbols",
    "kineta.function": "Function",
    "kineta.model.body": "Body Inertia Point Station body inertia point station",
    "kineta.formalism.quasi": "independent",
    "kineta.model.constraints.loop": "Loop loop",
    "kineta.model.constraints.plain": "Constraint constraint",
    "kineta.model.constraints.rolling": "Rolling rolling",
    "kineta.model.contacts.contact": "Contact contact",
    "kineta.model.contacts.friction": "Friction friction",
    "kineta.model.contacts.limit": "Limit limit",
    "kineta.model.elements.couple": "couple",
    "kineta.model.elements.damper": "damper line_damper",
    "kineta.model.elements.force": "force",
    "kineta.model.elements.generalized": "generalized_force line_force",
    "kineta.model.elements.inertia": "inertia_element",
    "kineta.model.elements.potential": "potential",
    "kineta.model.elements.spring": "line_spring spring",
    "kineta.model.io": "dumps load loads",
    "kineta.model.let": "Let",
    "kineta.model.motion": "Ball Free R Rotation Rx Ry Rz S Shift Sx Sy Sz",
    "kineta.model.quasi": "Quasi quasi",
    "kineta.model.program": "Control Program control program",
    "kineta.model.vectors": "vector",
    "kineta.model.switch": "Switch switch",
    "kineta.model.system": "Output Parameter System",
    "kineta.tasks.assemble": "Assembly assemble",
    "kineta.tasks.control": "sampled",
    "kineta.tasks.equilibrium": "Equilibrium equilibria equilibrium",
    "kineta.tasks.events": "Event event",
    "kineta.tasks.family": "Family family",
    "kineta.model.graph": "SystemGraph system_graph",
    "kineta.tasks.fit": "Fit fit",
    "kineta.tasks.integrals": "FirstIntegral first_integrals",
    "kineta.tasks.io_system": "io_system",
    "kineta.tasks.linear": "Linear",
    "kineta.tasks.linear_formulas": "LinearFormulas linear_formulas",
    "kineta.tasks.linearize": "linearize",
    "kineta.tasks.modes": "Modes modes",
    "kineta.tasks.inverse_kinematics": "Placement inverse_kinematics",
    "kineta.tasks.kinematics": "Kinematics kinematics",
    "kineta.tasks.kinetostatics": "Kinetostatics inverse kinetostatics statics",
    "kineta.tasks.reactions": "Reactions reactions",
    "kineta.tasks.objective": "Objective objective",
    "kineta.tasks.reading": "load_result",
    "kineta.tasks.base_parameters": "BaseParameters Identification base_parameters identify",
    "kineta.tasks.regressor": "Regressor regressor",
    "kineta.tasks.response": "Response response",
    "kineta.tasks.result": "Result",
    "kineta.tasks.sensitivity": "Sensitivity sensitivity",
    "kineta.tasks.servo": "Servo servo",
    "kineta.tasks.simulate": "simulate",
    "kineta.tasks.certificate": "Certificate",
    "kineta.tasks.verify": "verify",
}
_MODULE = {name: module for module, names in _FROM.items() for name in names.split()}
_RENAMED = {"from_sympy": "expression"}

__all__ = [
    "ArgumentError",
    "Assembly",
    "Ball",
    "BaseParameters",
    "Body",
    "Certificate",
    "Constraint",
    "Contact",
    "Control",
    "Equations",
    "Equilibrium",
    "Event",
    "Expr",
    "ExpressionError",
    "Family",
    "FirstIntegral",
    "Fit",
    "Free",
    "Friction",
    "Function",
    "Identification",
    "Inertia",
    "Kinematics",
    "KinetaError",
    "KinetaWarning",
    "Kinetostatics",
    "Let",
    "Linear",
    "LinearFormulas",
    "Limit",
    "Loop",
    "MissingPackageError",
    "ModelError",
    "Modes",
    "Objective",
    "Operations",
    "Output",
    "Parameter",
    "Placement",
    "Point",
    "Program",
    "Quasi",
    "R",
    "Reactions",
    "Regressor",
    "Response",
    "Result",
    "Rolling",
    "Rotation",
    "Rx",
    "Ry",
    "Rz",
    "S",
    "Sensitivity",
    "Servo",
    "Shift",
    "SimulationError",
    "Station",
    "Sx",
    "Sy",
    "Sz",
    "Switch",
    "System",
    "SystemGraph",
    "acos",
    "asin",
    "assemble",
    "atan",
    "atan2",
    "base_parameters",
    "body",
    "constraint",
    "contact",
    "control",
    "cos",
    "cosh",
    "couple",
    "damper",
    "derive",
    "dumps",
    "equilibria",
    "equilibrium",
    "event",
    "exp",
    "family",
    "first_integrals",
    "fit",
    "force",
    "friction",
    "from_sympy",
    "generalized_force",
    "identify",
    "independent",
    "inertia",
    "inertia_element",
    "inverse",
    "inverse_kinematics",
    "kinematics",
    "kinetostatics",
    "io_system",
    "limit",
    "line_damper",
    "line_force",
    "line_spring",
    "linear_formulas",
    "linearize",
    "load",
    "load_result",
    "loads",
    "log",
    "loop",
    "maximum",
    "minimum",
    "modes",
    "objective",
    "point",
    "potential",
    "program",
    "quasi",
    "reactions",
    "regressor",
    "response",
    "rolling",
    "sampled",
    "sensitivity",
    "servo",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "spring",
    "sqrt",
    "statics",
    "station",
    "step",
    "switch",
    "symbol",
    "symbols",
    "system_graph",
    "tan",
    "tanh",
    "vector",
    "verify",
]


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is None:
        raise AttributeError(f"module 'kineta' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(module), _RENAMED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
