"""What has happened to contacts during a motion: changes in words, impacts, and contacts that came to rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kineta.arrays import FloatArray
from kineta.integration.contact_records import ALONG, CLOSED, FLAGS, GOES_ON, HIT, SLIPS, STUCK, TIRED
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.results.impacts import Impact, whole_impact

#: Number of impacts before a rest that is reported.
FEW = 2


class ContactLog:
    """The log of *touches* and *switches*, by name: ``changes`` are times and words of all transitions, ``impacts`` those of all
    contacts; ``transitions`` are by what the motion goes from one mode to the next: of each step the number of the switch, -1 for
    contacts, and how many impacts there are.
    """

    def __init__(self, touches: Sequence[UnilateralConstraint], switches: Sequence[str]) -> None:
        self._names, self._tangents = [t.name for t in touches], [len(t.tangents) for t in touches]
        self._switches = switches
        self.changes: list[tuple[float, str]] = []
        self.impacts: list[Impact] = []
        self.transitions: list[tuple[tuple[int, int], ...]] = []
        self._begins: list[int] = []  # for each of these steps, the first of its changes
        self._counts, self._places = [0] * len(touches), dict[int, int]()
        self._calm: dict[int, tuple[float, int]] = {}

    def note(
        self, t: float, before: FloatArray, after: FloatArray, impacts: FloatArray, *, start: bool = False
    ) -> None:
        """Record a transition at *t* from the flags *before* to those *after*, with its *impacts*; at the *start* these alone."""
        begin = len(self.changes)
        self._note(t, before, after, impacts, start=start)
        if not start:
            self._begins.append(begin)
            self.transitions.append(((-1, len(impacts)),))

    def forget(self, count: int) -> None:
        """Forget the last *count* transitions, which a run has gone back behind."""
        if not count:
            return
        first, impacts = self._begins[-count], sum(n for own in self.transitions[-count:] for _, n in own)
        for _, what in self.changes[first:]:
            if what.endswith(" strikes"):
                i = self._names.index(what.removesuffix(" strikes"))
                self._counts[i] -= 1
                if i in self._calm and self._calm[i][1] > self._counts[i]:
                    del self._calm[i]
        del self.changes[first:], self.impacts[len(self.impacts) - impacts :]
        del self.transitions[-count:], self._begins[-count:]

    def _note(self, t: float, before: FloatArray, after: FloatArray, impacts: FloatArray, *, start: bool) -> None:
        said = []
        for contact, n, u, w, approach, leaving, lost, how, _, _ in impacts.tolist():
            i = int(contact)
            self.impacts.append(Impact(t, self._names[i], n, u, w, approach, leaving, lost))
            if int(how) & HIT:
                said.append(f"{self._names[i]} strikes")
                self._counts[i] += 1
                if int(how) & TIRED and self._counts[i] > FEW:
                    self._calm.setdefault(i, (t, self._counts[i]))
        self.changes += ((t, what) for what in (*said, *(() if start else self._words(before, after))))

    def note_strikes(self, struck: Iterable[tuple[float, FloatArray]]) -> None:
        """Record impacts of time stepping, at the ends of their steps; what goes on replaces the one with its number."""
        flags = np.zeros((len(self._names), FLAGS))
        for t, one in struck:
            goes_on, number = int(one[7]) == GOES_ON, int(one[8])
            if goes_on and number in self._places:
                place = self._places[number]
                self.impacts[place] = whole_impact(self.impacts[place], one[1:7].tolist())
            elif not goes_on:
                self._places[number] = len(self.impacts)
                self.note(t, flags, flags, one[None])

    def note_all(
        self,
        t: Sequence[float],
        what: Sequence[int],
        modes: FloatArray,
        impacts: FloatArray,
        before: FloatArray,
        *,
        begun: bool = False,
    ) -> FloatArray:
        """Record changes at times *t*, by the switches *what* or for -1 by contacts, to the *modes* (k, contacts, FLAGS) after
        one *before*, with the *impacts* of each, whose last number is that of their change; the first is the start if the run has
        just *begun*. Returns the last mode.
        """
        ends = np.searchsorted(impacts[:, -1], np.arange(len(t)), side="right").tolist()
        self._begins.append(len(self.changes))
        for k, (own, switch, after, first, end) in enumerate(zip(t, what, modes, [0, *ends], ends, strict=False)):
            if switch < 0:
                self._note(own, before, after, impacts[first:end], start=begun and k == 0)
                before = after
            else:
                self.changes.append((own, f"{self._switches[switch]} switches"))
        self.transitions.append(
            tuple((switch, own) for switch, own in zip(what, np.diff([0, *ends]).tolist(), strict=True))
        )
        return before

    def _words(self, before: FloatArray, after: FloatArray) -> Iterator[str]:
        """Changes of the mode in words."""
        if (before == after).all():
            return
        rows = zip(self._names, self._tangents, before.tolist(), after.tolist(), strict=True)
        for name, tangents, old, new in rows:
            if (new[CLOSED] > 0) != (old[CLOSED] > 0):
                yield f"{name} {'rests' if new[CLOSED] > 0 else 'leaves'}"
            for k, word in ((STUCK, "sticks"), (SLIPS, "slips")):
                if new[k] and not old[k]:
                    yield f"{name} {word}"
            own = range(ALONG, ALONG + tangents)
            if new[SLIPS] and old[SLIPS] and sum(old[k] * new[k] for k in own) < 0:
                yield f"{name} reverses"

    def rests(self, flags: FloatArray) -> tuple[str, ...]:
        """Sentences on contacts at rest after an accumulation of impacts, which the *flags* still close."""
        return tuple(
            f"'{self._names[i]}' came to rest at t = {t:.6g} s after {n} impacts."
            for i, (t, n) in self._calm.items()
            if flags[i, CLOSED] > 0
        )
