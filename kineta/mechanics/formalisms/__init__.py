"""Formalisms of mechanics, one file each, listed in ``table``.

A formalism supplies the residual tau(t, q, v, vdot) or the energies from which it follows, cheaper rules for single quantities,
and the steps of its derivation report. Reading order: ``formalism``, ``newton_euler``, ``lagrange``, ``hamilton``, ``routh``,
``appell``, ``kane``, ``gauss``, ``dalembert``, ``wittenburg``, ``table``.
"""
