"""kineta: a compiler for mechanics.

Describe a mechanical system, derive its equations of motion, compile them, and let it move::

    import kineta as kn

    system = kn.load("hopping_robot.kin")
    equations = kn.derive(system)
    equations.operations("forward")
    kn.simulate(system, 10.0).plot()
"""
