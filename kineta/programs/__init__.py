"""Runs under programs of motion: consistent initialisation, loss of controllability, singular instants.

Reading order: ``start_arguments``, ``initialisation``, ``controllability_watch``, ``singularities``, ``native_restart``,
``path_jumps``.
"""
