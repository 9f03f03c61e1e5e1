"""Benchmarks: kineta beside its peers, in one run."""
