"""Small systems for the tests of runs."""

from __future__ import annotations

import kineta as kn

PENDULUM = kn.loads("""
model pendulum;
gravity (0, -9.81, 0);
parameters l = 1 m;
bob | Rz(q), Sy(-l) = 1 kg;
initial q = 1;
output bob.position, energy;
""")

OSCILLATOR = kn.loads("""
model oscillator;
coordinates x;
parameters m = 1 kg, k = 4 N/m;
block | Sx(x) = m;
spring s = k on x;
initial x = 1 m;
""")


def block(force: str, initial: str) -> kn.System:
    """One kilogram on the x axis under a *force*."""
    return kn.loads(f"model block; coordinates x; it | Sx(x) = 1; force f = {force} on x; initial {initial};")
