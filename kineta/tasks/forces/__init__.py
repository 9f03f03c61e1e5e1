"""Forces of a motion: inverse dynamics, statics, kinetostatics, joint reactions.

Reading order: ``inverse_dynamics``, ``joint_reactions``.
"""
