"""Contact problems in kernels: which contacts act is data, and no code depends on it.

What is known of a motion with contacts are the records of :mod:`kineta.integration.contact_records`. Reading order:
``block_inertia`` (accelerations, responses to unit forces), ``islands`` (bodies that contacts couple), ``friction_cone`` (one
contact), ``gauss_seidel`` (sweeps over contacts), ``island_equations``, ``sparse_factors`` (of large islands) and
``alart_curnier`` (many contacts at once), ``pivoting`` (elimination), ``proximal_iteration`` (forces of rows that may depend on
each other), ``kept_equations`` (those that come again), ``mode_forces`` (accelerations in a mode), ``impact``,
``mode_search`` (modes that agree with their forces), ``active_set``,
``motion`` (rates, events and projections in a mode), ``state_terms`` (terms of a state at a transition),
``dead_centre`` (what constraints hold already), ``rest`` (what stays closed, sticks, slips or leaves), ``collision`` (impacts in
a cascade), ``transition`` (from mode to mode).
"""
