"""A plug-in: a formalism, an element, a constraint, a joint and a backend of another distribution."""
