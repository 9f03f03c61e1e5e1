"""kineta: a compiler for mechanics.

Describe a mechanical system, derive its equations of motion, compile them, and let it move::

    import kineta as kn

    system = kn.load("hopping_robot.kin")
    equations = kn.derive(system)
    equations.operations("forward")
    kn.simulate(system, 10.0).plot()

The public names are imported when they are first used, so that ``import kineta`` costs nothing. The packages, each above those
it imports: ``vocabulary``, ``errors``; ``arrays``, ``tolerances``; ``values``, ``threads``, ``files``, ``cache``, ``calls``,
``entry_points``, ``library``, ``memory``; ``expr``; ``passes``, ``numerics``; ``algebra``; ``spatial``, ``notation``,
``interop``, ``codegen``, ``integration``; ``model``, ``kernels``; ``mechanics``; ``consistency``; ``equations``; ``results``;
``runtime``; ``hybrid``, ``programs``; ``simulation``; ``tasks``; ``views``; ``cli``. ``docs/architecture.md`` shows the way of
a model through them.
"""

from __future__ import annotations

TYPE_CHECKING = (
    False  # without an import: what is imported before the command listens to signals cannot be interrupted in order
)
if TYPE_CHECKING:
    from typing import Any

    from kineta.algebra.expression import Expr, symbol, symbols
    from kineta.algebra.functions import (
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
    from kineta.equations.equations import Equations, derive
    from kineta.equations.function import Function
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
    from kineta.interop.sympy import expression as from_sympy
    from kineta.mechanics.constraints.quasi_velocities import independent
    from kineta.model.body import Body, Inertia, Point, Station, body, inertia, point, station
    from kineta.model.constraints.equation import Constraint, constraint
    from kineta.model.constraints.loop import Loop, loop
    from kineta.model.constraints.rolling import Rolling, rolling
    from kineta.model.contacts.contact import Contact, contact
    from kineta.model.contacts.joint_friction import Friction, friction
    from kineta.model.contacts.limit import Limit, limit
    from kineta.model.elements.couple import couple
    from kineta.model.elements.damper import damper, line_damper
    from kineta.model.elements.force import force
    from kineta.model.elements.generalized import generalized_force, line_force
    from kineta.model.elements.inertia import inertia_element
    from kineta.model.elements.potential import potential
    from kineta.model.elements.smooth_friction import SmoothFriction
    from kineta.model.elements.spring import line_spring, spring
    from kineta.model.graph import SystemGraph, system_graph
    from kineta.model.io import dumps, load, loads
    from kineta.model.motion import Ball, Free, R, Rotation, Rx, Ry, Rz, S, Shift, Sx, Sy, Sz
    from kineta.model.motion_program import Control, Program, control, program
    from kineta.model.named_expressions import Let, Output
    from kineta.model.parameters import Parameter
    from kineta.model.quasi import Quasi, quasi
    from kineta.model.switch import Switch, switch
    from kineta.model.system import System
    from kineta.model.vectors import vector
    from kineta.results.extremes import Extremes, extremes
    from kineta.results.netcdf import load_result
    from kineta.results.result import Result
    from kineta.runtime.events import Event, event
    from kineta.runtime.sampled_forces import sampled
    from kineta.simulation.simulate import simulate
    from kineta.tasks.assemble import Assembly, assemble
    from kineta.tasks.augmented_bodies import AugmentedBodies, augmented_bodies
    from kineta.tasks.equilibria.branches import Family, family
    from kineta.tasks.equilibria.equilibrium import Equilibrium, equilibria, equilibrium
    from kineta.tasks.equilibria.stiffness import Stiffness
    from kineta.tasks.forces.inverse_dynamics import Kinetostatics, inverse, kinetostatics, statics
    from kineta.tasks.forces.joint_reactions import Reactions, reactions
    from kineta.tasks.identification.base_parameters import BaseParameters, base_parameters
    from kineta.tasks.identification.identification import Excitation, Identification, excitation, identify
    from kineta.tasks.identification.regressor import Regressor, regressor
    from kineta.tasks.linear.control_system import io_system
    from kineta.tasks.linear.linear_system import Linear
    from kineta.tasks.linear.linearize import linearize
    from kineta.tasks.linear.modes import Modes, modes
    from kineta.tasks.linear.response import Response, response
    from kineta.tasks.linear.symbolic_matrices import LinearFormulas, linear_formulas
    from kineta.tasks.motions.conditioning import Conditioning
    from kineta.tasks.motions.inverse_kinematics import Placement, inverse_kinematics
    from kineta.tasks.motions.kinematics import Kinematics, kinematics
    from kineta.tasks.sensitivity.fit import Fit, fit
    from kineta.tasks.sensitivity.objective import Objective, objective
    from kineta.tasks.sensitivity.sensitivity import Sensitivity, sensitivity
    from kineta.tasks.servo.servo import Servo, servo
    from kineta.tasks.structure_matrices import StructureMatrices, structure_matrices
    from kineta.tasks.verification.certificate import Certificate
    from kineta.tasks.verification.first_integrals import FirstIntegral, first_integrals
    from kineta.tasks.verification.verify import verify

__version__ = "0.1.0"

_FROM = {
    "kineta.equations.equations": "Equations derive",
    "kineta.errors": "ArgumentError ExpressionError KinetaError KinetaWarning MissingPackageError ModelError SimulationError",
    "kineta.interop.sympy": "from_sympy",
    "kineta.expr.count": "Operations",
    "kineta.algebra.functions": "acos asin atan atan2 cos cosh exp log maximum minimum sign sin sinh sqrt step tan tanh",
    "kineta.algebra.expression": "Expr symbol symbols",
    "kineta.equations.function": "Function",
    "kineta.model.body": "Body Inertia Point Station body inertia point station",
    "kineta.mechanics.constraints.quasi_velocities": "independent",
    "kineta.model.constraints.loop": "Loop loop",
    "kineta.model.constraints.equation": "Constraint constraint",
    "kineta.model.constraints.rolling": "Rolling rolling",
    "kineta.model.contacts.contact": "Contact contact",
    "kineta.model.contacts.joint_friction": "Friction friction",
    "kineta.model.contacts.limit": "Limit limit",
    "kineta.model.elements.couple": "couple",
    "kineta.model.elements.damper": "damper line_damper",
    "kineta.model.elements.force": "force",
    "kineta.model.elements.smooth_friction": "SmoothFriction",
    "kineta.model.elements.generalized": "generalized_force line_force",
    "kineta.model.elements.inertia": "inertia_element",
    "kineta.model.elements.potential": "potential",
    "kineta.model.elements.spring": "line_spring spring",
    "kineta.model.io": "dumps load loads",
    "kineta.model.named_expressions": "Let Output",
    "kineta.model.parameters": "Parameter",
    "kineta.model.motion": "Ball Free R Rotation Rx Ry Rz S Shift Sx Sy Sz",
    "kineta.model.quasi": "Quasi quasi",
    "kineta.model.motion_program": "Control Program control program",
    "kineta.model.vectors": "vector",
    "kineta.model.switch": "Switch switch",
    "kineta.model.system": "System",
    "kineta.tasks.assemble": "Assembly assemble",
    "kineta.tasks.motions.conditioning": "Conditioning",
    "kineta.runtime.sampled_forces": "sampled",
    "kineta.tasks.equilibria.equilibrium": "Equilibrium equilibria equilibrium",
    "kineta.runtime.events": "Event event",
    "kineta.results.extremes": "Extremes extremes",
    "kineta.tasks.equilibria.branches": "Family family",
    "kineta.model.graph": "SystemGraph system_graph",
    "kineta.tasks.sensitivity.fit": "Fit fit",
    "kineta.tasks.verification.first_integrals": "FirstIntegral first_integrals",
    "kineta.tasks.linear.control_system": "io_system",
    "kineta.tasks.linear.linear_system": "Linear",
    "kineta.tasks.linear.symbolic_matrices": "LinearFormulas linear_formulas",
    "kineta.tasks.linear.linearize": "linearize",
    "kineta.tasks.linear.modes": "Modes modes",
    "kineta.tasks.motions.inverse_kinematics": "Placement inverse_kinematics",
    "kineta.tasks.motions.kinematics": "Kinematics kinematics",
    "kineta.tasks.forces.inverse_dynamics": "Kinetostatics inverse kinetostatics statics",
    "kineta.tasks.forces.joint_reactions": "Reactions reactions",
    "kineta.tasks.sensitivity.objective": "Objective objective",
    "kineta.results.netcdf": "load_result",
    "kineta.tasks.augmented_bodies": "AugmentedBodies augmented_bodies",
    "kineta.tasks.identification.base_parameters": "BaseParameters base_parameters",
    "kineta.tasks.identification.identification": "Excitation Identification excitation identify",
    "kineta.tasks.identification.regressor": "Regressor regressor",
    "kineta.tasks.linear.response": "Response response",
    "kineta.results.result": "Result",
    "kineta.tasks.sensitivity.sensitivity": "Sensitivity sensitivity",
    "kineta.tasks.servo.servo": "Servo servo",
    "kineta.simulation.simulate": "simulate",
    "kineta.tasks.equilibria.stiffness": "Stiffness",
    "kineta.tasks.structure_matrices": "StructureMatrices structure_matrices",
    "kineta.tasks.verification.certificate": "Certificate",
    "kineta.tasks.verification.verify": "verify",
}
_MODULE = {name: module for module, names in _FROM.items() for name in names.split()}
_RENAMED = {"from_sympy": "expression"}

__all__ = [
    "ArgumentError",
    "Assembly",
    "AugmentedBodies",
    "Ball",
    "BaseParameters",
    "Body",
    "Certificate",
    "Conditioning",
    "Constraint",
    "Contact",
    "Control",
    "Equations",
    "Equilibrium",
    "Event",
    "Excitation",
    "Expr",
    "ExpressionError",
    "Extremes",
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
    "SmoothFriction",
    "Station",
    "Stiffness",
    "StructureMatrices",
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
    "augmented_bodies",
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
    "excitation",
    "exp",
    "extremes",
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
    "structure_matrices",
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
        from kineta.errors import suggestion

        raise AttributeError(
            f"module 'kineta' has no attribute '{name}'.{'' if name.startswith('_') else suggestion(name, __all__)}"
        )
    from importlib import import_module

    from kineta.calls import public

    place, own = import_module(module), _RENAMED.get(name, name)
    value = public(getattr(place, own), name)
    # One object has the name, so that processes can hand it to each other.
    setattr(place, own, value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
