"""When a motion begins to slide along surfaces where a force or a rate jumps, and when it leaves them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kineta.arrays import FloatArray, Mask
from kineta.expr.op import LOW, SLIDING
from kineta.integration.loop_abi import BRIEF
from kineta.integration.problem import Slides
from kineta.integration.segment import Segment
from kineta.integration.solver import BY_EVENTS
from kineta.numerics.tableaux import TABLEAUX
from kineta.runtime.functions import slides_of
from kineta.runtime.kinks import crowded_jumps, jump_met
from kineta.runtime.problem import SimulationProblem

#: Steps in a row that lead nowhere together.
MANY = 40


def crowd(task: SimulationProblem, t: float, y: FloatArray) -> str:
    """Sentence on a motion of *task* that is driven from both sides to where something jumps, at *t* in the state *y*, and does
    not slide there; ``''`` for none.
    """
    may = bool(task.made.code.layout.slides) or bool(task.system.programs)
    found = crowded_jumps(task.equations, task.made.p, t, y[: task.states]) if may else ()
    if not found:
        return ""
    where = " and ".join(found)
    if task.system.programs:
        return (
            f"the motion is driven from both sides to where {where} jumps; under programs of motion it does not slide there: "
            "make the jump smooth"
        )
    if task.method not in TABLEAUX:
        return (
            f"the motion is driven from both sides to where {where} jumps; the method '{BY_EVENTS}' lets it slide there"
        )
    return (
        f"the motion is driven from both sides to where {where} jump, whose sides cannot be told apart; let no jump change what "
        "another one does"
    )


class CrowdWatch:
    """Watch over a motion of *task* that passes a jump again and again, in steps that lead nowhere."""

    def __init__(self, task: SimulationProblem) -> None:
        layout = task.made.code.layout
        self._task, self._may = task, bool(layout.switching[0]) and (bool(layout.slides) or bool(task.system.programs))
        if not self._may:
            return
        self._brief = BRIEF * abs(task.t1 - task.t0)
        slides = slides_of(layout, 0)
        self._sides = [] if slides is None else [slides.place + j for j in range(len(slides.guards))]
        self._t, self._y = np.empty(0), np.empty((0, len(task.y0)))

    def process(self, t: FloatArray, y: FloatArray) -> tuple[int, str]:
        """Process the states *y* (k, n) at the ends *t* (k,) of steps; the number of those after which the motion no longer gets
        on, and a sentence on it, ``''`` while it does.
        """
        if not self._may or y.shape[1] != self._y.shape[1]:
            return len(t), ""
        known = len(self._t)
        t, y = np.concatenate([self._t, t]), np.concatenate([self._y, y])
        self._t, self._y = t[1 - MANY :], y[1 - MANY :]
        short = (np.abs(t[MANY - 1 :] - t[: 1 - MANY]) < self._brief) & self._free(y[MANY - 1 :])
        for row in (np.flatnonzero(short) + MANY - 1).tolist():
            if stuck := crowd(self._task, float(t[row]), y[row]):
                return row + 1 - known, stuck
        return len(t) - known, ""

    def _free(self, y: FloatArray) -> Mask:
        """Whether operations go by signs in each of the states *y* (k, n); those that are held on a side, or slide, lead on."""
        return np.any(y[:, self._sides] < LOW, axis=1) if self._sides else np.ones(len(y), dtype=bool)


#: How words on the beginning of a slide begin.
BEGINS = "the motion begins to slide where"


class SlideLog:
    """The changes of a motion of *task* that may slide: times, each with words on the operation that jumps at the surface."""

    def __init__(self, task: SimulationProblem, slides: Slides) -> None:
        self._task, self._own, self._states = task, slice(slides.place, slides.place + len(slides.guards)), len(task.y0)
        self._last = np.zeros(len(slides.guards), dtype=bool)
        self._before = task.t0, task.y0
        self._words = [""] * len(slides.guards)
        self._mode: Any = None
        self.changes: list[tuple[float, str]] = []

    def process(self, segment: Segment) -> None:
        """Process the states of a *segment* at the ends of steps; in those of time stepping nothing slides. What no longer slides
        where modes or forces begin anew shows at the end of the first step there.
        """
        t, y = segment.t, segment.y
        anew = {-1} if segment.held or segment.jumped or segment.mode is not self._mode else set[int]()
        if segment.changed is not None:
            anew.update(segment.changed.rows.tolist())
        on = np.zeros((len(y) + 1, self._last.size), dtype=bool)
        on[0] = self._last
        if y.shape[1] == self._states:
            on[1:] = y[:, self._own] > SLIDING - 0.5
        for i, j in np.argwhere(on[1:] != on[:-1]).tolist():
            if on[i + 1, j]:
                before = (float(t[i - 1]), y[i - 1]) if i else self._before
                self._words[j] = jump_met(self._task.equations, self._task.made.p, before, (float(t[i]), y[i]))
                self.changes.append((float(t[i]), f"{BEGINS} {self._words[j]} jumps"))
            else:
                since = i - 1 if i - 1 in anew else i
                at = float(t[since]) if since >= 0 else self._before[0]
                self.changes.append((at, f"the motion no longer slides where {self._words[j]} jumps"))
        self._last, self._before, self._mode = on[-1], (float(t[-1]), y[-1]), segment.last_mode
