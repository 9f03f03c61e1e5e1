"""Machines as they are shown: near the state that is given, where constraints allow it."""

from __future__ import annotations

import kineta as kn
from tests.support import EXAMPLES


def test_values_that_constraints_do_not_allow_are_told() -> None:
    system = kn.load(EXAMPLES / "fourbar.kin")
    allowed = kn.assemble(system)
    assert kn.posture(system, allowed.q, allowed.v).notes == ()
    given = {name: float(x) for name, x in zip(system.q_names, allowed.q, strict=True)} | {"theta": allowed.q[0] + 0.1}
    moved = kn.posture(system, given, allowed.v)
    (note,) = moved.notes
    assert note.startswith(
        "The constraints do not allow the initial values; the start is the nearest that they allow: "
    )
    told = dict(zip(system.q_names, moved.q.tolist(), strict=True))
    assert f"theta is {told['theta']:.4g} in place of {given['theta']:.4g}" in note
    assert kn.posture(system, given, allowed.v, assembled=False).notes == ()
