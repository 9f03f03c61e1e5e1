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

#: The compass gait of Goswami, Thuilot and Espiau, with its impact as a switch: legs of a + b = 1 m with 5 kg each, 10 kg at the
#: hip, no scuffing of the swing foot. Q+ v+ = Q- v-: momenta about the foot that strikes, and of the other leg about the hip.
COMPASS = kn.loads("""
model compass;
gravity 9.81;
parameters a = 0.5, b = 0.5, l = 1, m = 5, h = 10, slope = 0.05;
Stance | Ry(s), Sz(a) = m(m); Hip | Ry(s), Sz(l) = m(h); Swing ~ Hip | Ry(n - s), Sz(-b) = m(m);
coordinates s, n;
let c = cos(s - n);
let before_1 = -m*a*b*n' + (-m*a*b + (h*l^2 + 2*m*a*l)*c)*s';
let before_2 = -m*a*b*s';
let n_1 = m*b^2 - m*b*l*c; let s_1 = m*l^2 - m*b*l*c + m*a^2 + h*l^2;
let n_2 = m*b^2; let s_2 = -m*b*l*c;
let det = n_1*s_2 - s_1*n_2;
when strike : min(s + n - 2*slope, s - n - 0.2) >= 0 :
    s = n, n = s, s' = (n_1*before_2 - n_2*before_1)/det, n' = (s_2*before_1 - s_1*before_2)/det;
initial s = -0.2187, n = 0.3234, s' = 1.0918, n' = 0.3772;
""")
