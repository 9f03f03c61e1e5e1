"""Where the numbers of components stand among those of all, and the one problem of their contacts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from kineta.arrays import IntArray
from kineta.integration.contact_records import FLAGS, ContactProblem
from kineta.integration.stepping_records import (
    SteppingData,
)
from kineta.mechanics.contact.contact_terms import TERMS
from kineta.records import dataclass
from kineta.threads import once


@dataclass(frozen=True, eq=False)
class Places:
    """Where the numbers of a component stand among those of all, by what they are."""

    state: IntArray
    speeds: IntArray
    multipliers: IntArray
    terms: IntArray
    slopes: IntArray
    residuals: IntArray
    coordinates: IntArray
    contacts: IntArray


class ComponentPlaces:
    """Where the numbers of components stand among those of all, by the memories *own* of their time stepping, with *room* for
    contacts of pairs.

    of_each : the places of each component; q, v, multipliers, contacts, forces, blocks, inertia, rows, couplings : offsets of
    each, and the number of all; fixed, works : numbers of contacts of components, and of components, each with its work
    """

    def __init__(self, own: Sequence[SteppingData], room: int) -> None:
        self._own, self.room = own, room
        self._sum()
        self.of_each = [*self._places()]

    def _sum(self) -> None:
        """Offsets of each component among all: q, v, multipliers, contacts, forces, blocks, inertia, row entries, couplings."""
        motions = [own.motion for own in self._own]
        problems = [m.problem for m in motions]

        def starts(numbers: Iterable[int]) -> list[int]:
            return [0, *accumulate(numbers)]

        self.q = starts(m.coordinates for m in motions)
        self.v = starts(m.speeds for m in motions)
        self.multipliers = starts(p.multipliers for p in problems)
        self.contacts = starts(p.contacts for p in problems)
        self.forces = starts(m.n_forces for m in motions)
        self.blocks = starts(p.blocks for p in problems)
        self.inertia = starts(len(m.terms.array("inertia")) for m in motions)
        self.rows = starts(len(p.array("row_speeds")) for p in problems)
        self.couplings = starts(len(p.array("coupled_blocks")) for p in problems)
        self.fixed, self.works = self.contacts[-1], len(motions)

    def _places(self) -> Iterable[Places]:
        nq, nv, nm, nf = self.q[-1], self.v[-1], self.multipliers[-1], self.forces[-1]
        n = nq + nv + self.works
        for k, own in enumerate(self._own):
            motion, p = own.motion, own.motion.problem
            q, v = self.q[k] + np.arange(motion.coordinates), self.v[k] + np.arange(motion.speeds)
            m, c = self.multipliers[k] + np.arange(p.multipliers), self.contacts[k] + np.arange(p.contacts)
            f = self.forces[k] + np.arange(motion.n_forces)
            given = n + nv + nm
            flags = (given + nm + nf + FLAGS * c[:, None] + np.arange(FLAGS)).ravel()
            state = [q, nq + v, np.array([nq + nv + k]), n + v, n + nv + m, given + m, given + nm + f, flags]
            i, e = self.inertia[k] + np.arange(self.inertia[k + 1] - self.inertia[k]), 3 * self.rows[k]
            rows = e + np.arange(3 * (self.rows[k + 1] - self.rows[k]))
            three, four = ((w * c[:, None] + np.arange(w)).ravel() for w in (3, 4))
            speeds = np.concatenate([v, nv + m])
            of = {"inertia": i, "force": speeds, "jacobian": rows, "velocity": three, "bias": three, "law": four}
            of |= {"gap": c, "level": c}
            terms = np.concatenate([self.term_starts[name] + of[name] for name in TERMS])
            yield Places(
                state=np.concatenate(state),
                speeds=speeds,
                multipliers=m,
                terms=terms,
                slopes=np.concatenate([i, self.inertia[-1] + i]),
                residuals=np.concatenate([m, nm + m]),
                coordinates=q,
                contacts=c,
            )

    @once
    def widths(self) -> tuple[int, int]:
        """The most speeds and blocks of a pair."""
        speeds = max((own.motion.problem.speeds for own in self._own), default=0)
        blocks = max((own.motion.problem.blocks for own in self._own), default=0)
        return 2 * speeds, 2 * blocks

    @once
    def term_sizes(self) -> dict[str, int]:
        """The sizes of the terms of all, by name."""
        """The sizes of the terms of all, by name."""
        contacts = self.contacts[-1] + self.room
        entries = self.rows[-1] + self.room * self.widths[0]
        sizes = {"inertia": self.inertia[-1], "force": self.v[-1] + self.multipliers[-1], "jacobian": 3 * entries}
        return sizes | {
            "velocity": 3 * contacts,
            "bias": 3 * contacts,
            "law": 4 * contacts,
            "gap": contacts,
            "level": contacts,
        }

    @once
    def term_starts(self) -> dict[str, int]:
        """Where each of the terms begins."""
        """Where each of the terms begins."""
        sizes = self.term_sizes
        return dict(zip(TERMS, [0, *accumulate(sizes[name] for name in TERMS)], strict=False))

    def problem(self) -> ContactProblem:
        """One problem of the contacts of all components, with room for those of pairs."""
        room, (speeds, blocks) = self.room, self.widths
        problems = [(k, own.motion.problem) for k, own in enumerate(self._own)]

        def joined(name: str, starts: Sequence[int] | None = None) -> IntArray:
            """Starts of all, each behind the last of those before."""
            assert starts is not None
            return np.concatenate([*(p.array(name)[:-1] + starts[k] for k, p in problems), [starts[-1]]])

        def mapped(name: str, places: Any) -> IntArray:
            return np.concatenate([places(k)[p.array(name)] for k, p in problems]).astype(np.int64)

        def plain(name: str) -> IntArray:
            return np.concatenate([p.array(name) for _, p in problems]).astype(np.int64)

        def longer(x: IntArray, more: int) -> IntArray:
            return np.concatenate([x, np.zeros(more, dtype=np.int64)])

        s = [a + b for a, b in zip(self.v, self.multipliers, strict=True)]
        fills = [0, *accumulate(len(p.array("fill")) for _, p in problems)]

        def of_speeds(k: int) -> IntArray:
            return self.of_each[k].speeds

        def of_blocks(k: int) -> IntArray:
            return self.blocks[k] + np.arange(self.blocks[k + 1] - self.blocks[k])

        return ContactProblem(
            speeds=self.v[-1] + self.multipliers[-1],
            multipliers=self.multipliers[-1],
            contacts=self.contacts[-1],
            blocks=self.blocks[-1],
            block_start=joined("block_start", s),
            block_speeds=mapped("block_speeds", of_speeds),
            inertia_start=joined("inertia_start", self.inertia),
            fill_start=joined("fill_start", fills),
            fill=plain("fill"),
            row_start=longer(joined("row_start", self.rows), room),
            row_speeds=longer(mapped("row_speeds", of_speeds), room * speeds),
            coupled_start=longer(joined("coupled_start", self.couplings), room),
            coupled_blocks=longer(mapped("coupled_blocks", of_blocks), room * blocks),
            **{name: longer(plain(name), room) for name in ("has_normal", "poisson", "tangents")},
        )
