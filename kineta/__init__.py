"""kineta: a compiler for mechanics.

Describe a mechanical system, derive its equations of motion, compile them, and let it move::

    import kineta as kn

    system = kn.load("hopping_robot.kin")
    equations = kn.derive(system)
    equations.operations("forward")
    kn.simulate(system, 10.0).plot()

The public names are imported when they are first used, so that ``import kineta`` costs nothing. The packages, each above those
it imports: ``vocabulary``, ``records``, ``errors``; ``arrays``, ``tolerances``; ``values``, ``threads``, ``files``, ``cache``,
``calls``, ``drawing``, ``entry_points``, ``library``, ``memory``; ``expr``; ``passes``, ``numerics``; ``algebra``; ``spatial``,
``notation``, ``interop``, ``codegen``, ``integration``; ``model``, ``kernels``; ``mechanics``; ``consistency``; ``equations``;
``results``, ``scene``; ``runtime``; ``hybrid``, ``programs``; ``simulation``; ``tasks``; ``page``, ``views``, ``editors``;
``playground``; ``cli``; and ``preparation``, what is compiled when kineta is installed.
``docs/architecture.md`` shows the way of a model through them.
"""

from __future__ import annotations

__version__ = "0.1.0"

#: Public names by module; those of tasks stand in the table of tasks. ``docs/reference.py`` writes the stub of this file, in
#: which type checkers read them.
_FROM = {
    "kineta.algebra.expression": "Comparison Expr symbol symbols",
    "kineta.algebra.functions": "acos asin atan atan2 ceil cos cosh exp floor hypot log maximum minimum mod sign sin sinh "
    "sqrt step tan tanh where",
    "kineta.algebra.tables": "table",
    "kineta.equations.equations": "Equations derive",
    "kineta.equations.function": "Function",
    "kineta.errors": "ArgumentError ExpressionError KinetaError KinetaWarning MissingPackageError ModelError SimulationError",
    "kineta.expr.count": "Operations",
    "kineta.interop.sympy": "from_sympy",
    "kineta.mechanics.constraints.quasi_velocities": "independent",
    "kineta.model.appearance.shape": "BodyShape shape",
    "kineta.model.appearance.mark": "Mark mark",
    "kineta.model.appearance.viewpoint": "Viewpoint view",
    "kineta.model.body": "Body Inertia Point Station body inertia point station",
    "kineta.model.constraints.equation": "Constraint constraint",
    "kineta.model.constraints.loop": "Loop loop",
    "kineta.model.constraints.rolling": "Rolling rolling",
    "kineta.model.contacts.contact": "Contact contact",
    "kineta.model.contacts.joint_friction": "Friction friction",
    "kineta.model.contacts.limit": "Limit limit",
    "kineta.model.contacts.mutual_contact": "AlikeShapes MutualContact mutual_contact",
    "kineta.model.elements.couple": "couple",
    "kineta.model.elements.damper": "damper line_damper",
    "kineta.model.elements.force": "force",
    "kineta.model.elements.generalized": "generalized_force line_force",
    "kineta.model.elements.inertia": "inertia_element",
    "kineta.model.elements.potential": "potential",
    "kineta.model.elements.compliant_contact": "CompliantContact",
    "kineta.model.elements.smooth_friction": "SmoothFriction",
    "kineta.model.elements.spring": "line_spring spring",
    "kineta.model.graph": "SystemGraph system_graph",
    "kineta.model.io": "dumps load loads",
    "kineta.model.joints.ball": "Ball",
    "kineta.model.joints.free": "Free",
    "kineta.model.joints.rotation": "R Rotation Rx Ry Rz",
    "kineta.model.joints.shift": "S Shift Sx Sy Sz",
    "kineta.model.motion_program": "Control Program control program",
    "kineta.model.named_expressions": "Let Output",
    "kineta.model.parameters": "Parameter",
    "kineta.model.motion_variables": "Quasi State quasi state",
    "kineta.model.switch": "Switch switch",
    "kineta.model.system": "System",
    "kineta.model.vectors": "cross dot norm vector",
    "kineta.results.extremes": "extremes",
    "kineta.results.netcdf": "load_result",
    "kineta.results.result": "Result",
    "kineta.results.series": "Extremes",
    "kineta.runtime.events": "Event event",
    "kineta.runtime.sampled_forces": "sampled",
}
_RENAMED = {"from_sympy": "expression"}


def _modules() -> dict[str, str]:
    """Return the module of each public name."""
    from kineta.tasks.table import TASKS

    own = {name: module for module, names in _FROM.items() for name in names.split()}
    return own | {name: task.module for task in TASKS for name in task.public.split()}


def __getattr__(name: str) -> object:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'kineta' has no attribute '{name}'.")
    module = next((module for module, names in _FROM.items() if name in names.split()), "")
    if not module:
        known = _modules()
        if name == "__all__":
            return sorted(known)
        module = known.get(name, "")
    if not module:
        from kineta.errors import suggestion

        near = "" if name.startswith("_") else suggestion(name, sorted(known))
        raise AttributeError(f"module 'kineta' has no attribute '{name}'.{near}")
    from importlib import import_module

    from kineta.calls import public

    place, own = import_module(module), _RENAMED.get(name, name)
    value = public(getattr(place, own), name)
    # One object has the name, so that processes can hand it to each other.
    setattr(place, own, value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_modules())
