"""``LaneProgram``: a straight-line program whose results can also be found several to a vector."""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256

from kineta.expr.program import StraightLineProgram
from kineta.records import dataclass
from kineta.threads import once

#: Lanes of a vector.
LANES = 8
#: All lanes, as bits.
ALL = (1 << LANES) - 1


@dataclass(frozen=True, slots=True)
class LaneOperand:
    """Numbers of the workspace in the lanes of a vector.

    place : of the number, or of the first of as many as there are lanes
    several : whether each lane has a number of its own
    lanes : the lanes that have one, as bits; it is zero in the others
    """

    place: int
    several: bool = False
    lanes: int = ALL


@dataclass(frozen=True, slots=True)
class LaneStep:
    """A part of a program, done in all lanes of a vector at a time.

    program : the part, with a single input block
    operands : what its inputs are
    places : where its results stand, one lane beside the other
    width : number of lanes whose results are kept
    last : whether these are results of the whole program, else numbers of the workspace
    """

    program: StraightLineProgram
    operands: tuple[LaneOperand, ...]
    places: tuple[int, ...]
    width: int
    last: bool


@dataclass(frozen=True)
class LaneProgram(StraightLineProgram):
    """A program with a second way to its results, for one state.

    setup : from the same inputs to the numbers of the workspace from *first* on
    steps : what is done in lanes, one after the other
    """

    setup: StraightLineProgram
    first: int
    steps: tuple[LaneStep, ...]

    @classmethod
    def of(
        cls, main: StraightLineProgram, setup: StraightLineProgram, first: int, steps: tuple[LaneStep, ...]
    ) -> LaneProgram:
        """The program *main* with another way to its results."""
        own = {field.name: getattr(main, field.name) for field in fields(StraightLineProgram)}
        return cls(**own, setup=setup, first=first, steps=steps)

    @once
    def digest(self) -> str:
        """SHA-256 of the content: equal programs, equal digests."""
        steps = [(s.program.digest, s.operands, s.places, s.width, s.last) for s in self.steps]
        parts = StraightLineProgram.digest.work(self), self.setup.digest, self.first, steps
        return sha256(repr(parts).encode()).hexdigest()
