"""URDF, the robot description of ROS.

``robot`` reads a file by ``xml``, with its ``frames_and_inertia``, ``joint_limits`` and ``visuals``; ``coverage`` says what
is used of it.
"""

from __future__ import annotations

from kineta.model.io.urdf.robot import WARNINGS, read, read_with_report, reads

__all__ = ["WARNINGS", "read", "read_with_report", "reads"]
