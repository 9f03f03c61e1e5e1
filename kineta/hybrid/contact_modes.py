"""Modes of contacts during a motion: transitions in words, impacts, rest, and why there may be no next mode."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import SimulationError, excerpt
from kineta.expr.graph import ONE
from kineta.hybrid.contact_log import ContactLog
from kineta.integration.contact_records import (
    FLAGS,
    HIT,
    IMPACT_NUMBERS,
    ContactMotion,
    TransitionWork,
    law_fault,
)
from kineta.integration.problem import Contacts
from kineta.integration.segment import Segment
from kineta.kernels.contact import state_terms as kernels
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.contact_problem import CompiledContacts, contact_kernel

#: What is wrong with a contact or limit that is passed, also where no more is known of it.
GAP, LIMIT = "contact; expected a gap of zero or more", "limit; expected a value within it"
WHILE = " while its conditions hold"

#: Steps before the end of a motion, and the growth of a force in them, that is one without bound.
GROWS, GROWN = 30, 100.0


class ModeError(SimulationError):
    """A motion by events cannot go on, since no mode follows or no end of modes; time stepping can."""


class ContactModes:
    """Contacts of a motion, their present mode, and what has happened to them; ``words`` is the memory of their motion.

    watched, first : number of the caller's events, and the first event of contacts; until : largest absolute time of the motion
        [s]; constraints : names of the constraints
    log : what has happened; struck : indices of the contacts hit at the start; fault : why there is no first mode
    """

    def __init__(
        self,
        made: BoundSystem,
        log: ContactLog,
        watched: int,
        first: int,
        work: int,
        same: float,
        until: float,
        constraints: Sequence[str],
    ) -> None:
        assert made.code.contacts is not None
        self.compiled: CompiledContacts = made.code.contacts
        self.touches: Sequence[UnilateralConstraint] = self.compiled.touches
        self.until, self.constraints = until, constraints
        self.motion, self.work = self.compiled.motion(made.h), self.compiled.transitions(same, until)
        self.data = loop_contacts(made, self.motion, self.work, watched, first, work)
        self.log, self.words, self._memory = log, self.motion.words(), self.motion.array("block")
        self.brought = ""
        self.fault: ModeError | None = None
        self.struck: frozenset[int] = frozenset()

    def set_block(self, h: FloatArray) -> FloatArray:
        """Give the motion a block h, with the flags of its mode behind it; its memory."""
        self._memory[:] = h
        return self.words

    @property
    def flags(self) -> FloatArray:
        """Flags (contacts, FLAGS) of the present mode, a copy."""
        return np.array(self.motion.array("flags")).reshape(-1, FLAGS)

    def closed(self, flags: FloatArray) -> str:
        """Names of the contacts that are closed, and of joints that stick or slip, by the *flags* of a mode."""
        touches = zip(self.touches, flags.reshape(-1, FLAGS), strict=True)
        return excerpt(f"'{touch.name}'" for touch, own in touches if own.any())

    def flight(self) -> float:
        """Longest step after the last transition: the first contact that separated in it may return within."""
        return self.work.flight

    def begin(self, t: float, y: FloatArray, made: BoundSystem) -> tuple[FloatArray, BoundSystem]:
        """State after the transition into the first mode at *t*, and the system in it.

        Raises :class:`SimulationError` for penetration, and for a contact problem without a solution.
        """
        self.set_block(made.h)
        before, after = self.flags, np.array(y)
        self.work.made, self.work.row = 0, 0
        contact_kernel("transit")(self.motion, self.work, np.array([t]), after)
        while self.work.status == kernels.FULL:
            self.make_room()
            contact_kernel("transit")(self.motion, self.work, np.array([t]), after)
        if self.work.status != kernels.CHANGED:
            raise self.refusal(t)
        impacts = self.read_impacts()
        self.struck = frozenset(int(contact) for contact, *_, how, _, _ in impacts.tolist() if int(how) & HIT)
        self.log.note(t, before, self.flags, impacts, start=True)
        return after, made.with_flags(self.flags)

    def make_room(self) -> None:
        """Make room for twice as many impacts."""
        self.work.update(room=2 * self.work.room, impacts=np.zeros(2 * IMPACT_NUMBERS * self.work.room))

    def read_impacts(self) -> FloatArray:
        """Impacts (k, IMPACT_NUMBERS) of transitions since they were last read."""
        found = self.work.array("impacts")[: IMPACT_NUMBERS * self.work.made].reshape(-1, IMPACT_NUMBERS).copy()
        self.work.made = 0
        return np.asarray(found)

    def notes(self) -> tuple[str, ...]:
        """Sentences on a projected start, and on contacts at rest after an accumulation of impacts."""
        return (*[self.brought] * bool(self.brought), *self.log.rests(self.flags))

    def lost(self, guard: int) -> str:
        """Words on the contact of a *guard*, a gap without a value."""
        return f"'{self.touches[self.compiled.guard_contacts[guard]].name}' has {law_fault(np.nan, 0.0, 0.0, 0.0)}"

    def refusal(self, t: float) -> SimulationError:
        """Why there is no next mode."""
        status = self.work.status
        touch, terms = self.touches[self.work.culprit], self.motion.terms
        i = self.work.culprit
        law, gap = terms.array("law")[4 * i : 4 * i + 3].tolist(), float(terms.array("gap")[i])
        if status == kernels.INADMISSIBLE:
            return SimulationError(f"at t = {t:g} s '{touch.name}' has {law_fault(gap, *law)}")
        if status == kernels.PENETRATES:
            return ModeError(penetration(t, touch, gap))
        if status == kernels.NEGATIVE:
            return SimulationError(
                f"at t = {t:g} s '{touch.name}' has friction that falls below zero; expected zero or more"
            )
        if status == kernels.HELD:
            what = excerpt(f"'{name}'" for name in self.constraints)
            return SimulationError(
                f"at t = {t:g} s '{touch.name}' acts along what constraints ({what}) hold already, so that nothing says how much "
                "of the force is its own. Leave out the one or the other"
            )
        if status == kernels.NO_SLOPE:
            return SimulationError(
                f"at t = {t:g} s '{touch.name}' has a gap that no speed changes, as x^2 where x = 0, so that no force keeps "
                "it closed; expected one that goes through zero with a slope"
            )
        near = self.work.array("near")
        names = ", ".join(f"'{touch.name}'" for touch, own in zip(self.touches, near, strict=True) if own)
        why = (
            "with so much friction rigid bodies may jam (Painleve), or the bounds of many contacts are reached at once. Use less "
            "friction, or a law that is smooth"
            if any(touch.tangents for touch in self.touches)
            else "they are squeezed together and nothing gives way"
        )
        what = "impulses" if status == kernels.NO_IMPULSES else "forces"
        return ModeError(
            f"at t = {t:g} s no {what} of {names} were found that keep to the laws of contact and friction: {why}"
        )


def loop_contacts(
    made: BoundSystem, motion: ContactMotion, work: TransitionWork, watched: int, first: int, offset: int
) -> Contacts:
    """The contacts of a motion of *made* for the loop, with their memory; *offset* is that of the work in the state."""
    compiled = made.code.contacts
    assert compiled is not None
    motion.update(idle=offset)
    return Contacts(
        motion,
        work,
        contact_kernel("transit").address,
        made.code.observed.address,
        made.code.observed_size,
        watched,
        first,
        offset,
        compiled.guard_contacts,
        compiled.guard_rows,
    )


class LastSteps:
    """The last steps of a motion in its last contact mode."""

    def __init__(self) -> None:
        self._parts: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=GROWS)  # put together where something jams
        self._made: Callable[[], BoundSystem | None] = lambda: None

    def add(self, segment: Segment) -> None:
        """Add the steps of a *segment*."""
        if not (segment.mode.closed or segment.later):
            self._parts.clear()
            return
        if not len(segment.t):
            return
        first, made = segment.later[-1] if segment.later else (0, lambda: segment.mode)
        if segment.later or segment.jumped or (self._parts and self._parts[-1][1].shape[1] != segment.y.shape[1]):
            self._parts.clear()
        first = max(first, len(segment.t) - GROWS)
        if first < len(segment.t):
            self._parts.append((segment.t[first:], segment.y[first:]))
            self._made = made

    def jam(self, system: System) -> str:
        """Sentence on the contact whose force grew without bound in these steps of *system*; ``''`` for none."""
        made = self._made()
        if made is None or not self._parts or not made.flags.any():
            return ""
        names = made.observed_names(system)
        t, y = (np.concatenate(rows)[-GROWS:] for rows in zip(*self._parts, strict=True))
        forces = made.code.observe(t[:, None], y, made.h)[:, 2 : 2 + len(names)]
        normal = [k for k, name in enumerate(names) if name.startswith(MULTIPLIER) and name.endswith(".n")]
        found = {names[k]: forces[-1, k] for k in normal if forces[-1, k] > GROWN * forces[:, k].min() > 0}
        if not found:
            return ""
        name = max(found, key=lambda name: found[name])
        touch = name.removeprefix(MULTIPLIER).removesuffix(".n")
        return (
            f"'{touch}' presses without bound, with {found[name]:.1e} N at last: with so much friction what slides jams"
            " (Painleve)"
        )


def penetration(t: float, touch: UnilateralConstraint, gap: float) -> str:
    """A *gap* below zero in words."""
    by, acting = f"{-gap:.3g} {touch.unit}".rstrip(), WHILE * (touch.active != ONE)
    return f"at t = {t:g} s '{touch.name}' is {by} beyond its {LIMIT if touch.limit else GAP}{acting}"
