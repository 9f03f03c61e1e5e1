"""Backends: from programs to functions or text. They know neither mechanics nor each other."""
