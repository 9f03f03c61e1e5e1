"""Inertial parameters: the regressor, base parameters, identification from recorded motions.

Reading order: ``regressor``, ``base_parameters``, ``identification``.
"""
