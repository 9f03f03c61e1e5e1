"""Formalisms: from a system to its equations of motion."""
