"""kineta: a compiler for mechanics."""
