"""Chains of links in space: what grows."""

from __future__ import annotations

import kineta as kn


def chain(n: int) -> kn.System:
    """*n* links on turning joints whose axes are neither parallel nor at right angles; inertia full, in numbers."""
    bodies = []
    for k in range(n):
        motions = [kn.Sx(0.3), kn.Sz(0.1), kn.Rx(0.7 if k % 2 else -1.1), kn.Rz(kn.symbol(f"q{k}"))]
        inertia = kn.inertia(1.0 + 0.01 * k, (0.02, 0.03, 0.025), (0.001, -0.002, 0.003), com=(0.15, 0.02, 0.05))
        bodies.append(kn.body(f"link{k}", motions, inertia, base=f"link{k - 1}" if k else "ground"))
    return kn.System(f"chain{n}", bodies, gravity=(0, 0, -9.81))
