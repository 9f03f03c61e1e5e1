"""Small systems for the tests of runs and of given motions."""

from __future__ import annotations

import numpy as np

import kineta as kn
from tests.support import EXAMPLES

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


#: Mechanisms of which motions are given, and times of these.
FOURBAR, PUMA = kn.load(EXAMPLES / "fourbar.kin"), kn.load(EXAMPLES / "puma560.kin")
SKATE = kn.load(EXAMPLES / "skate.kin")
ARM = kn.loads("gravity (0, -9.81, 0); A | Rz(a), Sx(1) = 2; coordinates a; point P on A = (0.5, 0, 0);")
STOPPED = kn.loads("gravity 9.81; A | Ry(q), Sx(1) = 1; coordinates q; limit stop : q <= 0.5; output q'';")
TIMES = np.linspace(0, 2, 41)
