"""Names, units and values of what stands in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.arrays import FloatArray
from kineta.hybrid.contact_modes import GAP, LIMIT, WHILE
from kineta.integration.loop_abi import EVENT, GIVEN_UP, NOT_FINITE, OUT_OF_STEPS, STEP_TOO_SMALL
from kineta.integration.time_stepping import MOREAU
from kineta.kernels.contact import state_terms
from kineta.kernels.standalone.contact_transitions import (
    BACKWARDS,
    CHANGED,
    ENDLESS,
    LEAVES,
    RESTS,
    REVERSES,
    SLIPS_NOW,
    STICKS,
    STRIKES,
    SWITCHES,
    UNENDING,
    UNSETTABLE,
)
from kineta.kernels.standalone.standalone_run import ENDED, INCONSISTENT, REACHED, UNCONTROLLED
from kineta.kernels.standalone.stepping_run import CROWDED, UNCOUNTABLE, StandaloneSteps
from kineta.model import units
from kineta.model.reserved_symbols import ENERGIES
from kineta.model.system import System
from kineta.records import dataclass
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.postprocess import units_of
from kineta.tasks.export.fallback_record import stepped_task

#: What the functions of a run return, by name: numbers and sentences.
OUTCOMES = {
    "REACHED": (REACHED, "The time is reached."),
    "ENDED": (ENDED, "An event has ended the run."),
    "EVENT": (EVENT, "An event lies before the time."),
    "STEP_TOO_SMALL": (STEP_TOO_SMALL, "The step size became too small to be seen in the time."),
    "NOT_FINITE": (NOT_FINITE, "The accelerations are not finite."),
    "OUT_OF_STEPS": (OUT_OF_STEPS, "The largest number of steps is made."),
    "UNDEFINED_EVENT": (GIVEN_UP, "An event is undefined in a part of a step."),
    "INCONSISTENT": (INCONSISTENT, "No state near the start meets the constraints."),
}
#: Likewise of runs under programs of motion.
PROGRAM_OUTCOMES = {
    "UNCONTROLLED": (UNCONTROLLED, "The gradient of a program, or of a combination of programs, vanishes."),
}
#: Likewise of runs with contacts or switches. Those from PENETRATES to NEGATIVE are about the contact that is the culprit.
CONTACT_OUTCOMES = {
    "CHANGED": (CHANGED, "Contacts change, or a switch switches, before the time."),
    "PENETRATES": (
        CHANGED + state_terms.PENETRATES,
        f"A state is beyond its {GAP}, or beyond its {LIMIT}{WHILE}.",
    ),
    "NO_IMPULSES": (
        CHANGED + state_terms.NO_IMPULSES,
        "No impulses were found that keep to the laws of contact and friction; use less friction.",
    ),
    "NO_FORCES": (
        CHANGED + state_terms.NO_FORCES,
        "No forces were found that keep to the laws of contact and friction; use less friction.",
    ),
    "INADMISSIBLE": (
        CHANGED + state_terms.INADMISSIBLE,
        "A gap is undefined, friction is below zero or larger in slip than at rest, or restitution is not from 0 to 1.",
    ),
    "NO_SLOPE": (
        CHANGED + state_terms.NO_SLOPE,
        "A gap at zero is changed by no speed, so that no force keeps it closed.",
    ),
    "HELD": (
        CHANGED + state_terms.HELD,
        "A contact acts along what constraints hold already; leave out the one or the other.",
    ),
    "NEGATIVE": (CHANGED + state_terms.NEGATIVE, "Friction falls below zero; expected zero or more."),
    "FULL": (CHANGED + state_terms.FULL, "There are more impacts at one time than room for them."),
    "ENDLESS": (ENDLESS, "One change follows another without end."),
    "BACKWARDS": (BACKWARDS, "Contacts, limits, friction and switches work forwards in time only."),
    "UNSETTABLE": (UNSETTABLE, "A switch sets what is no finite number, or is out of its bounds."),
    "UNENDING": (UNENDING, "Too many steps by events are very short; time stepping goes over them."),
}
#: Likewise of runs by time stepping.
STEP_OUTCOMES = {
    "UNCOUNTABLE": (UNCOUNTABLE, "Expected steps above zero, finite, and long enough to be counted."),
    "CROWDED": (CROWDED, "More places of bodies are near each other than there is room for; take shorter steps."),
}
#: What a contact does in a change, by number.
CHANGES = {
    STRIKES: "strikes",
    RESTS: "rests",
    LEAVES: "leaves",
    STICKS: "sticks",
    SLIPS_NOW: "slips",
    REVERSES: "reverses",
    SWITCHES: "switches",
}
#: A unit that is not known.
UNKNOWN = "?"


@dataclass(frozen=True, eq=False)
class RunNames:
    """Names and units of coordinates, speeds and their derivatives under *programs* of motion, parameters, observed quantities,
    events, contacts and switches of a *model*; the values of the parameters, the *start* of the states, and whether the run is
    *stepped* by time stepping.
    """

    model: str
    q: Sequence[str]
    v: Sequence[str]
    levels: Sequence[str]
    state_units: Sequence[str]
    observed: Sequence[str]
    observed_units: Sequence[str]
    p: Sequence[str]
    p_units: Sequence[str]
    p_values: Sequence[float]
    events: Sequence[str]
    contacts: Sequence[str]
    switches: Sequence[str]
    programs: Sequence[str]
    start: FloatArray
    stepped: bool

    @property
    def outcomes(self) -> Mapping[str, tuple[int, str]]:
        """What the functions of the run return, by name."""
        changing = CONTACT_OUTCOMES if self.changing else {}
        more = PROGRAM_OUTCOMES if self.programs else STEP_OUTCOMES if self.stepped else {}
        return OUTCOMES | changing | more

    @property
    def changing(self) -> list[str]:
        """Contacts, then switches."""
        return [*self.contacts, *self.switches]

    @property
    def states(self) -> list[str]:
        """Coordinates, speeds, and derivatives of speeds."""
        return [*self.q, *self.v, *self.levels]

    @property
    def units(self) -> dict[str, str]:
        """Units of states and observed quantities by name."""
        found = (*self.state_units, *self.observed_units)
        return dict(zip((*self.states, *self.observed), found, strict=True))


def touching_names(
    system: System, tasks: Sequence[SimulationProblem], record: StandaloneSteps, contacts: Sequence[str]
) -> RunNames:
    """The names of a run of *system* by its components *tasks*, with *contacts* of these and of pairs."""
    each = [run_names(task) for task in tasks]
    known = {n: u for own in each for n, u in own.units.items()}
    observed = [*ENERGIES[:2], *(n for own in each for n in own.observed[2:])]
    units = {n: u for own in each for n, u in zip(own.p, own.p_units, strict=True)}
    states = [*system.q_names, *system.v_names]
    return RunNames(
        model=system.name,
        q=system.q_names,
        v=system.v_names,
        levels=[],
        state_units=[known[n] for n in states],
        observed=observed,
        observed_units=[known[n] for n in observed],
        p=system.parameter_names,
        p_units=[units.get(n, UNKNOWN) for n in system.parameter_names],
        p_values=record.array("given")[: len(system.parameter_names)].tolist(),
        events=[],
        contacts=contacts,
        switches=[],
        programs=[],
        start=record.array("start"),
        stepped=True,
    )


def run_names(task: SimulationProblem) -> RunNames:
    """The names of *task*."""
    system, layout = task.system, task.made.code.layout
    known = units_of(task)
    observed = [*ENERGIES[:2], *system.switched, *(o.name for o in system.recorded), *layout.multipliers]
    free = [p for p in system.parameters if not p.fixed]
    levels = [name for name, *_ in task.levels]
    return RunNames(
        model=system.name,
        q=system.q_names,
        v=system.v_names,
        levels=levels,
        state_units=[known.get(n, UNKNOWN) for n in (*system.q_names, *system.v_names, *levels)],
        observed=observed,
        observed_units=[known.get(n, UNKNOWN) for n in observed],
        p=system.parameter_names,
        p_units=[UNKNOWN if p.dimension is None else units.symbol(p.dimension) for p in free],
        p_values=task.made.p.tolist(),
        events=[event.name for event in task.watched],
        contacts=[touch.name for touch in layout.touches],
        switches=[switch.name for switch in system.switches],
        programs=[program.name for program in system.programs],
        start=task.y0[: task.states],
        stepped=task.method == MOREAU or stepped_task(task) is not None,
    )
