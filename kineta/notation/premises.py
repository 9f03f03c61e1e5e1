"""What printed equations may rely on: values at the start, by which signs last, and unit quaternions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Premises:
    """*start* : values of names, by which signs that last are left out; None leaves all signs. *quaternions* : names of unit
    quaternions, whose entries are the symbols ``name.qw .qx .qy .qz``.
    """

    start: Mapping[str, float] | None = None
    quaternions: Collection[str] = ()


#: Nothing is known.
NONE = Premises()
