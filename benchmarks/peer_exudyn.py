"""A row of parallelograms in Exudyn: rods as bodies in the plane, joints as constraints, generalised alpha (index 3)."""

from __future__ import annotations

import time

import exudyn as exu
import numpy as np
from exudyn.utilities import (
    Force,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    MassPoint,
    NodeGenericData,
    NodePointGround,
    ObjectContactCoordinate,
    ObjectGround,
    Point,
    RevoluteJoint2D,
    Rigid2D,
    RigidBody2D,
)
from numpy.typing import NDArray

GRAVITY, SPAN = 9.81, 10.0


def run(windows: int, step: float, v0: float = 1.0) -> tuple[float, float]:
    """Seconds of a run with this *step*, and the largest change of its energy relative to that at the start.

    The energy is looked at in a second run, which is not timed.
    """
    seconds, _ = _run(windows, step, v0, watched=False)
    return seconds, _run(windows, step, v0, watched=True)[1]


def _run(windows: int, step: float, v0: float, *, watched: bool) -> tuple[float, float]:
    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddObject(ObjectGround())
    inertia = 1 / 12

    def rod(x: float, y: float, vx: float, w: float) -> int:
        node = mbs.AddNode(
            Rigid2D(referenceCoordinates=[x, y, 0], initialCoordinates=[0, 0, 0], initialVelocities=[vx, 0, w])
        )
        body = mbs.AddObject(RigidBody2D(physicsMass=1, physicsInertia=inertia, nodeNumber=node))
        marker = mbs.AddMarker(MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[0, -GRAVITY, 0]))
        return int(body)

    def hinge(a: int, at_a: tuple[float, float], b: int, at_b: tuple[float, float]) -> None:
        places = ((a, at_a), (b, at_b))
        markers = [mbs.AddMarker(MarkerBodyPosition(bodyNumber=i, localPosition=[*x, 0])) for i, x in places]
        mbs.AddObject(RevoluteJoint2D(markerNumbers=markers))

    upright = [rod(k, 0.5, v0 / 2, -v0) for k in range(windows + 1)]
    level = [rod(k + 0.5, 1, v0, 0) for k in range(windows)]
    for k, body in enumerate(upright):
        hinge(ground, (k, 0), body, (0, -0.5))
    for k, body in enumerate(level):
        hinge(upright[k], (0, 0.5), body, (-0.5, 0))
        hinge(body, (0.5, 0), upright[k + 1], (0, 0.5))
    mbs.Assemble()
    places = np.array([[k, 0.5, 0] for k in range(windows + 1)] + [[k + 0.5, 1, 0] for k in range(windows)])

    def energy(q: NDArray[np.float64], v: NDArray[np.float64]) -> float:
        (_, y, _), (vx, vy, w) = (places + q.reshape(-1, 3)).T, v.reshape(-1, 3).T
        return float((0.5 * (vx**2 + vy**2 + inertia * w**2) + GRAVITY * y).sum())

    found = []

    def look(system: exu.MainSystem, t: float) -> bool:
        data = system.systemData
        found.append(energy(data.GetODE2Coordinates(), data.GetODE2Coordinates_t()))
        return True

    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = SPAN
    settings.timeIntegration.numberOfSteps = round(SPAN / step)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solutionSettings.writeSolutionToFile = False
    sparse = exu.LinearSolverType.EigenSparse
    settings.linearSolver.solverType = sparse if windows >= 10 else exu.LinearSolverType.EXUdense
    if watched:
        mbs.SetPreStepUserFunction(look)
    start = time.perf_counter()
    arrived = mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    seconds = time.perf_counter() - start
    if watched:
        look(mbs, SPAN)
    error = max(abs(np.array(found) - found[0])) / abs(found[0]) if found else np.nan
    return seconds, float(error) if arrived else np.nan


def bounce(span: float, step: float, stiffness: float = 1e6) -> dict[str, float]:
    """A ball of 0.2 kg let fall by a metre on a stiff spring: a contact of one coordinate, without loss."""
    began = time.perf_counter()
    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddNode(NodePointGround())
    node = mbs.AddNode(Point(initialCoordinates=[0, 0, 1]))
    body = mbs.AddObject(MassPoint(physicsMass=0.2, nodeNumber=node))
    mbs.AddLoad(
        Force(markerNumber=mbs.AddMarker(MarkerBodyPosition(bodyNumber=body)), loadVector=[0, 0, -0.2 * GRAVITY])
    )
    data = mbs.AddNode(NodeGenericData(initialCoordinates=[1], numberOfDataCoordinates=1))
    markers = [mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=n, coordinate=2)) for n in (ground, node)]
    mbs.AddObject(ObjectContactCoordinate(markerNumbers=markers, nodeNumber=data, contactStiffness=stiffness))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = span
    settings.timeIntegration.numberOfSteps = round(span / step)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.solutionSettings.writeSolutionToFile = False
    found: list[tuple[float, float]] = []

    def look(system: exu.MainSystem, t: float) -> bool:
        z, v = system.systemData.GetODE2Coordinates()[2], system.systemData.GetODE2Coordinates_t()[2]
        found.append((z, 0.2 * (GRAVITY * z + v * v / 2) + stiffness * min(z, 0) ** 2 / 2))
        return True

    start = time.perf_counter()
    first = start - began
    mbs.SolveDynamic(settings)
    seconds = time.perf_counter() - start
    mbs.SetPreStepUserFunction(look)
    mbs.SolveDynamic(settings)
    z, E = np.array(found).T
    grown = float((E - np.minimum.accumulate(E)).max() / (0.2 * GRAVITY))
    steps = round(span / step)
    return {
        "first": first,
        "seconds": seconds / span,
        "steps": steps,
        "energy": grown,
        "depth": float(max(0.0, -z.min())),
    }
