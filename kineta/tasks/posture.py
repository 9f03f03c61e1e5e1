"""Postures: a system in a position, as pictures show it."""

from __future__ import annotations

from dataclasses import field
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.calls import public
from kineta.drawing import draw
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, shown
from kineta.files import path_of, write
from kineta.model.coercion import entries
from kineta.model.system import System, a_system
from kineta.records import dataclass
from kineta.runtime.parameter_checks import parameters
from kineta.tasks.kept_results import kept, key_of
from kineta.values import finite, flag, number

if TYPE_CHECKING:
    from kineta.scene.scene import Scene

#: Values moved by constraints that are listed at most.
LISTED = 6


@public
@dataclass(frozen=True, eq=False, repr=False)
class Posture:
    """A position of *system* at the time t [s].

    q, v, p : coordinates (nq,), speeds (nv,) and parameters (np,)
    towards : the direction from which it is looked at; None for that of the model, or one that suits the machine
    notes : remarks, as on constraints that no position near meets
    to : seconds in which a page shows it moving; None for ten, or as long as its bodies are together
    """

    system: System
    t: float
    q: FloatArray
    v: FloatArray
    p: FloatArray
    towards: tuple[float, float, float] | None = None
    notes: tuple[str, ...] = field(default=())
    to: float | None = None

    def __repr__(self) -> str:
        return f"<Posture of '{self.system.name}': {len(self.scene.solids)} solids at t = {self.t:g} s>"

    def _repr_html_(self) -> str:
        """The page in a frame, as notebooks show it."""
        frame = "width='100%' height='560' style='border:0' sandbox='allow-scripts allow-downloads'"
        return f"<iframe title='{escape(self.system.name)}' {frame} srcdoc='{escape(self.page())}'></iframe>"

    @property
    def scene(self) -> Scene:
        """What is seen, as data."""
        made: Scene = import_module("kineta.scene.system_scene").scene(self.system)
        return made

    def lines(self) -> list[str]:
        """Return what is shown as text."""
        where = "its plane" if self.scene.normal is not None else "space"
        return [f"Model '{self.system.name}' in {where}, {self.system.size}.", *self.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return the state by name as plain data."""
        names = (*self.system.q_names, *self.system.v_names)
        state = dict(zip(names, [*self.q.tolist(), *self.v.tolist()], strict=True))
        return {"model": self.system.name, "t": self.t, "initial": state, "notes": list(self.notes)}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the machine; returns the Matplotlib axes."""
        return draw(self, ax=ax)

    def page(self) -> str:
        """Return a page of HTML, complete in itself, in which the machine moves from here by its own equations."""
        return str(import_module("kineta.page.kept_pages").posture_page(self))

    def gltf(self) -> bytes:
        """Return a file of glTF 2.0 (``.glb``) in which the machine moves from here."""
        return bytes(import_module("kineta.tasks.moving_machine").posture_file(self))

    def show(self, path: str | Path | None = None) -> Path:
        """Write the page to a file ``.html``, by default one that is opened in the browser, or the moving machine to a file
        ``.glb``; return its path.
        """
        if path is not None and (target := path_of(path, "the path of a page")).suffix == ".glb":
            write({target: self.gltf()})
            return target
        made: Path = import_module("kineta.page.page_file").put(self.page(), self.system.name, path)
        return made


def posture(
    system: System,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    *,
    t: float = 0.0,
    assembled: bool = True,
    towards: Any = None,
    to: float | None = None,
) -> Posture:
    """Return *system* assembled near *q*, *v*, by default near its initial state, at the time *t* [s].

    *q*, *v*, *p* as for :func:`~kineta.simulation.simulate.simulate`, of one case; *towards* is the direction, three numbers,
    from which it is looked at, and *to* the time [s] for which a page shows it moving, by default ten or as long as bodies do
    not fly apart. Without *assembled* the state is shown as given; so it is, with a note, where no state near it meets the
    constraints.
    """
    values = parameters(a_system(system), p)
    q0, v0 = initial_state(system, q, v, values)
    if max(q0.ndim, v0.ndim, values.ndim) > 1:
        raise ArgumentError(f"Model '{system.name}': expected one position to show, found several cases.")
    t, notes = finite("t", t), list[str]()
    if flag("assembled", assembled) and system.constraints:
        found = kept(key_of("assembled", system, q0, v0, values, t), lambda: _assembled(system, q0, v0, values, t))
        given, (q0, v0) = np.concatenate([q0, v0]), map(np.array, found[:2])
        notes = [*found[2], *_moved(system, given, np.concatenate([q0, v0]))]
    if to is not None and not (to := finite("to", to)) > 0:
        raise ArgumentError(f"Expected a time above zero for to, found {to:g} s.")
    return Posture(system, t, q0, v0, values, direction(towards), tuple(notes), to)


def _assembled(
    system: System, q: FloatArray, v: FloatArray, p: FloatArray, t: float
) -> tuple[list[float], list[float], list[str]]:
    """Coordinates and speeds near those given that meet the constraints, and notes: those given, with one, where none do."""
    try:
        found = import_module("kineta.tasks.assemble").assemble(system, q, v, p, t=t)
    except SimulationError as error:
        return q.tolist(), v.tolist(), [f"Shown as given: {error}"]
    return found.q.tolist(), found.v.tolist(), []


def _moved(system: System, given: FloatArray, found: FloatArray) -> list[str]:
    """The note on values *given* that the constraints do not allow, and those *found* in their place."""
    stated, names = dict(system.initial), (*system.q_names, *system.v_names)
    moved = [
        f"{name} is {x:.4g} in place of {x0:.4g}"
        for name, x0, x in zip(names, given.tolist(), found.tolist(), strict=True)
        if (x0 or name in stated) and abs(x - x0) > tolerances.PRINTED_TOLERANCE * max(1.0, abs(x0))
    ]
    more = [f"and {len(moved) - LISTED} more"] * (len(moved) > LISTED)
    listed = ", ".join([*moved[:LISTED], *more])
    return [
        f"The constraints do not allow the initial values; the start is the nearest that they allow: {listed}."
    ] * bool(moved)


def direction(towards: Any) -> tuple[float, float, float] | None:
    """A direction from which it is looked at. Raises :class:`ArgumentError` for what is no three numbers, or zero."""
    if towards is None:
        return None
    found = entries(towards)
    if found is None or len(found) != 3:
        raise ArgumentError(
            f"Expected a direction of three numbers for towards, as in (1, -2, 1), found {shown(towards)}."
        )
    x, y, z = (number("towards", c) for c in found)
    if not x * x + y * y + z * z > 0:
        raise ArgumentError("Expected a direction of non-zero length for towards, found (0, 0, 0).")
    return x, y, z
