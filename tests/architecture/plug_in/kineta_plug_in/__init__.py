"""A plug-in: a formalism, an element, a constraint and a backend of another distribution."""
