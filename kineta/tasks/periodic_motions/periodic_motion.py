"""Periodic motions, smooth and with events, and their stability by Floquet multipliers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import ComplexArray
from kineta.calls import public
from kineta.drawing import draw, notebook
from kineta.equations.equations import Equations, given_equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError, did_you_mean, reworded, shown
from kineta.model.coercion import records
from kineta.model.dimensions import varied_units
from kineta.model.system import System
from kineta.records import dataclass
from kineta.results.result import Result
from kineta.runtime import run_arguments
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.parameter_checks import parameters
from kineta.simulation.simulate import simulate
from kineta.tasks.periodic_motions import floquet
from kineta.tasks.periodic_motions.shooting import PATIENCE, Orbit, Shooting
from kineta.values import finite

#: Shortest period that is looked for, in those of the guess.
SHORTEST = 0.1
#: Time in which a section has to come, without a guess [s].
LONGEST = 20.0


@public
@dataclass(frozen=True, eq=False, repr=False)
class Periodic:
    """A periodic motion.

    initial : the state at its start by name; period [s]
    multipliers : Floquet multipliers by falling size, without that of the motion along itself, or of the direction out of the
        section; ``stable`` whether all are within the unit circle, None where the largest is on it; ``stability`` in words
    residual : largest difference of the states a period apart; drifts : by name, what coordinates move on in a period
    run : the motion over a period
    units : by name, where they are known; notes : the changes within a period
    """

    model: str
    initial: Mapping[str, float]
    period: float
    multipliers: ComplexArray
    residual: float
    drifts: Mapping[str, float]
    run: Result
    units: Mapping[str, str]
    notes: tuple[str, ...] = ()

    _repr_html_ = notebook

    @property
    def stable(self) -> bool | None:
        """Whether the motion is stable; None where a multiplier on the unit circle leaves it open."""
        return floquet.is_stable(self.multipliers)

    @property
    def stability(self) -> str:
        """The stability in words."""
        return floquet.words(self.multipliers)

    def __repr__(self) -> str:
        word = {True: "stable", False: "unstable", None: "of undecided stability"}[self.stable]
        return f"<Periodic motion of '{self.model}': period {self.period:.6g} s, {word}>"

    def lines(self) -> list[str]:
        """Return period, state, multipliers and stability as text."""
        values = ", ".join(f"{n} = {round(x, 12) + 0.0:.9g}" for n, x in self.initial.items())
        found = [f"period {self.period:.10g} s", f"  {values}"]
        found += [f"  {n} moves on by {round(x, 12) + 0.0:.9g} in a period" for n, x in self.drifts.items()]
        if len(self.multipliers):
            found.append(f"  multipliers: {', '.join(floquet.spelt(complex(x)) for x in self.multipliers)}")
        return [*found, f"  {self.stability}", *(f"  {note}" for note in self.notes)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the run as plain data."""
        return {
            "model": self.model,
            "period": self.period,
            "initial": dict(self.initial),
            "multipliers": [[float(x.real), float(x.imag)] for x in self.multipliers],
            "stable": self.stable,
            "stability": self.stability,
            "residual": self.residual,
            "drifts": dict(self.drifts),
            "notes": list(self.notes),
        }

    def plot(self, *names: str) -> Any:
        """Draw the series *names* (the coordinates, if none are given) over a period; returns the Matplotlib axes."""
        return draw(self.run, *names)


def periodic(
    system: System | Equations,
    guess: float | None = None,
    *,
    section: Expr | str | None = None,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    drifts: Iterable[str] = (),
    keep: Iterable[str] = (),
    t0: float = 0.0,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Periodic:
    """Return the periodic motion of *system* nearest to the state *q*, *v*, by shooting with its exact monodromy matrix.

    Parameters
    ----------
    guess : of the period [s]; where forces depend on the time it is the period itself
    section : where a period ends, in place of a guess: an expression that rises through zero, or the name of a switch, of a
        contact or of a limit that strikes. The period begins just behind it
    q, v, p, tau : initial guess, as for :func:`~kineta.simulation.simulate.simulate`, of one case; forces tau are numbers
    drifts : coordinates that may have moved on after a period, as the place of what walks; angles on which the equations depend
        turn whole turns
    keep : initial values that stay as they are: they choose among the motions of a conservative system
    t0 : the start [s]; rtol, atol : tolerances of the motions

    Motions go through impacts, contacts and switches, at which their variations jump, as in
    :func:`~kineta.tasks.sensitivity.sensitivity.sensitivity`. What a gait does to its legs, as to exchange them, is a switch of
    the model. Raises :class:`ArgumentError` for arguments that make no sense, and without a guess or a section;
    :class:`SimulationError` where no periodic motion is found, for a rest, and for a section that is never met.
    """
    shooting, start = shooting_of(system, guess, section, q, v, p, tau, drifts, keep, t0, rtol, atol, ())
    return found_periodic(shooting, found_orbit(shooting, start))


def shooting_of(
    system: System | Equations,
    guess: float | None,
    section: Expr | str | None,
    q: Any,
    v: Any,
    p: Any,
    tau: Any,
    drifts: Iterable[str],
    keep: Iterable[str],
    t0: float,
    rtol: float,
    atol: float,
    varied: tuple[str, ...],
) -> tuple[Shooting, Orbit]:
    """Return the checked arguments of :func:`periodic`, with the parameters that are *varied*, as a problem and its guess."""
    equations = given_equations(system)
    model = equations.system
    if model.programs:
        raise ArgumentError(
            f"Model '{model.name}': periodic motions are looked for without programs of motion; leave them out."
        )
    if not model.nv:
        raise ArgumentError(f"Model '{model.name}': nothing in it can move.")
    values, acting = parameters(model, p), applied_forces(model, tau)
    q0, v0 = initial_state(model, q, v, values)
    if max(q0.ndim, v0.ndim, values.ndim, acting.constant.ndim) > 1 or acting.expressions or acting.sampled:
        raise ArgumentError(
            "Expected one case, and numbers for the forces tau; look for periodic motions case by case."
        )
    rtol, atol, _ = run_arguments.tolerances(rtol, atol, np.inf)
    start = finite("t0", t0)
    if guess is not None and not (guess := finite("the guess of the period", guess)) > 0:
        raise ArgumentError(f"Expected a guess of the period above 0 s, found {guess:g}.")
    known = _section(model, section)
    if known is None and guess is None:
        raise ArgumentError(
            f"Model '{model.name}': expected a guess of the period (guess=, --period), or a section at which it ends (section=, "
            "--section), found neither."
        )
    places = (*model.q_names, *model.v_names)
    shooting = Shooting(
        equations,
        start,
        np.array(np.broadcast_to(acting.constant, model.nv)),
        known,
        [model.q_names.index(n) for n in _names(model, drifts, model.q_names, "drifts", "a coordinate")],
        [places.index(n) for n in _names(model, keep, places, "keep", "a coordinate or speed")],
        varied,
        LONGEST if guess is None else PATIENCE * guess,
        rtol,
        atol,
        0.0 if guess is None else SHORTEST * guess,
    )
    return shooting, Orbit(np.concatenate([q0, v0]), 1.0 if guess is None else guess, values)


def _names(model: System, given: Iterable[str], known: tuple[str, ...], what: str, kind: str) -> tuple[str, ...]:
    names = records(given, str, f"names for {what}", f"'{known[0]}'")
    for name in names:
        if name not in known:
            raise ArgumentError(
                f"Model '{model.name}': expected {kind} for {what}, found '{name}'.{did_you_mean(name, known)}"
            )
    return tuple(names)


def _section(model: System, section: Any) -> Expr | str | None:
    """Return a section as an expression, or as the name of a switch or contact."""
    if section is None:
        return None
    if not isinstance(section, Expr | str):
        raise ArgumentError(
            f"Expected an expression, or the name of a switch or contact, for the section, found {shown(section)}."
        )
    known = (*(w.name for w in model.switches), *(n for n, own in model.impacts.items() if own))
    if str(section) in known:
        return str(section)
    if isinstance(section, str):
        has = f" It has {', '.join(known)}." if known else " It has none; give an expression, kn.symbol(...)."
        raise ArgumentError(
            f"Model '{model.name}' has no switch, contact or limit '{section}' as a section.{did_you_mean(section, known) or has}"
        )
    return run_arguments.symbols(model, section, "the section", resulting=True)


def found_orbit(shooting: Shooting, start: Orbit) -> Orbit:
    """Return the periodic motion nearest to *start*. Raises :class:`SimulationError` for none, and for a rest."""
    name = shooting.equations.system.name
    try:
        shooting.find_turning(start)
        found = shooting.solved(start)
        shooting.check_extent(found, start)
        check_repeated(shooting, found)
    except SimulationError as error:
        if str(error).startswith("Model "):
            raise
        raise reworded(error, f"Model '{name}': {error}.") from None
    return found


def check_repeated(shooting: Shooting, at: Orbit) -> None:
    """Raise :class:`SimulationError` where the motion of the next period is another one, though the state comes back."""
    shooting.check_forces(at)
    name, T = shooting.equations.system.name, shooting.passage(at).T
    switched = shooting.forced and shooting.equations.system.switches
    if switched and _change_of_motion(shooting, at) > tolerances.PRINTED_TOLERANCE:
        raise SimulationError(
            f"Model '{name}': switches depend on the time, and the {T:g} s after the period of {T:g} s are another motion: give "
            "a period of theirs."
        )
    if shooting.drifts_change_nothing(at) or _change_of_motion(shooting, at) <= tolerances.WRITTEN_TOLERANCE:
        return
    drift = shooting.passage(at).end - at.z
    moved = " and ".join(f"{shooting.equations.system.q_names[i]} by {drift[i]:.6g}" for i in shooting.drifts)
    raise SimulationError(
        f"Model '{name}': the equations depend on what drifts: {T:.6g} s move {moved} on, and the next {T:.6g} s are another "
        "motion. Give a section that is met where they are the same again, or take what they depend on from the drifts."
    )


def _change_of_motion(shooting: Shooting, at: Orbit) -> float:
    """Return by how much the second period moves to another state than the first, as a fraction of the size of the motion."""
    run, first = _run(shooting, at, 2), shooting.passage(at)
    there = np.concatenate([run.q[-1], run.v[-1]]) - 2 * first.end + at.z
    return float(np.abs(there).max() / max(1.0, first.size))


def _run(shooting: Shooting, at: Orbit, periods: int) -> Result:
    """Return the motion from *at* over a number of *periods*."""
    nq = shooting.equations.system.nq
    return simulate(
        shooting.equations,
        (shooting.t0, shooting.t0 + periods * shooting.passage(at).T),
        q=at.z[:nq],
        v=at.z[nq:],
        p=at.p,
        tau=shooting.tau,
        rtol=shooting.rtol,
        atol=shooting.atol,
    )


def found_periodic(shooting: Shooting, at: Orbit) -> Periodic:
    """Return the record of a periodic motion."""
    system, passage = shooting.equations.system, shooting.passage(at)
    multipliers, off = floquet.multipliers(shooting.monodromy(at), shooting.own_multiplier(at))
    notes = [f"in a period: {said}" for said in [passage.motion.sequence] if said]
    if shooting.timed and off > floquet.NEAR_CIRCLE:
        notes.append(
            f"no multiplier is one, as that of the motion along itself has to be (the nearest differs by {off:.2g}): the "
            "multipliers have few digits; take finer tolerances (rtol)"
        )
    drift = passage.end - at.z
    run = _run(shooting, at, 1)
    return Periodic(
        model=system.name,
        initial=dict(zip((*system.q_names, *system.v_names), at.z.tolist(), strict=True)),
        period=float(passage.T),
        multipliers=multipliers,
        residual=float(np.abs(shooting.off(at)).max(initial=0.0)),
        drifts={system.q_names[i]: float(drift[i]) for i in shooting.drifts},
        run=run,
        units=varied_units(system),
        notes=tuple(notes),
    )
