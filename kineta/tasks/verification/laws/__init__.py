"""Laws of mechanics as checks of equations: a file for each family, and a row of the table below for each file.

Reading order: ``law``, ``comparison``; then the families: ``inverse_dynamics``, ``mass_matrix``, ``energy_balance``,
``system_balance``, ``invariance``, ``body_kinematics``, ``energy_and_momentum``, ``newton_euler``, ``joint_reactions``,
``constraints``, ``quasi_velocities``, ``contacts``, ``states``, ``outputs``, ``programs``.
"""

from kineta.tasks.verification.laws import (
    body_kinematics,
    constraints,
    contacts,
    energy_and_momentum,
    energy_balance,
    invariance,
    inverse_dynamics,
    joint_reactions,
    mass_matrix,
    newton_euler,
    outputs,
    programs,
    quasi_velocities,
    states,
    system_balance,
)
from kineta.tasks.verification.laws.law import MechanicalLaw

LAWS: tuple[MechanicalLaw, ...] = (
    *inverse_dynamics.LAWS,
    *mass_matrix.LAWS,
    *energy_balance.LAWS,
    *system_balance.LAWS,
    *invariance.LAWS,
    *body_kinematics.LAWS,
    *energy_and_momentum.LAWS,
    *newton_euler.LAWS,
    *joint_reactions.LAWS,
    *constraints.LAWS,
    *quasi_velocities.LAWS,
    *contacts.LAWS,
    *states.LAWS,
    *outputs.LAWS,
    *programs.LAWS,
)
