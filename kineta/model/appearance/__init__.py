"""What pictures show of a model beside what follows from it: shapes of bodies, paths, forces, and the direction of sight.

Nothing of it enters the equations. A file holds a kind: its record, its words, its reading, writing and checking; what becomes of
it in a picture stands in ``kineta.scene``. Reading order: ``solids``, ``colours``, ``shape``, ``mark``, ``viewpoint``.
"""

from __future__ import annotations

from typing import Any

from kineta.model.appearance import mark, shape, viewpoint
from kineta.model.kind import Kind

#: All kinds, in the order in which the documents name them.
KINDS: tuple[Kind[Any], ...] = (shape.KIND, mark.KIND, viewpoint.KIND)
