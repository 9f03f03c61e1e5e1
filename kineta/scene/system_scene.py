"""The scene of a system, made from its description in the variables of its equations."""

from __future__ import annotations

from collections.abc import Iterable

from kineta.equations.equations import Equations, equations_of
from kineta.expr.graph import Ref, neg
from kineta.expr.program import program
from kineta.expr.walk import reachable
from kineta.mechanics.derivation import Derivation
from kineta.model.constraints import holding, place
from kineta.model.system import System
from kineta.scene import appearance
from kineta.scene.default_solids import add_default_solids
from kineta.scene.height_fields import height_fields
from kineta.scene.meshes import unreadable
from kineta.scene.scene import Scene
from kineta.scene.scene_builder import SceneBuilder, ground_scene, walk


def scene(system: System | Equations) -> Scene:
    """The scene of *system*, made once for its equations and the meshes that can be drawn."""
    equations = system if isinstance(system, Equations) else equations_of(system)
    return equations.memo((Scene, unreadable(equations.system)), lambda: _scene(equations.alone()))


def _scene(d: Derivation) -> Scene:
    s, g = d.symbols, d.graph
    made = ground_scene(d, appearance.shaped_bodies(s.system), appearance.shaped_bodies(s.system, masked=True))
    for body in s.system.tree:
        walk(made, body)
    add_default_solids(made)
    heights = height_fields(made)
    appearance.shapes(made)
    trails, arrows, towards = appearance.trails(made), appearance.arrows(made), appearance.towards(made)
    grips = {c.name: made.shown(d.kinematics.position(place(c)).refs) for c in holding(s.system.constraints)}
    touches = appearance.touches(made)
    up = made.number(neg(x) for x in s.expression(*s.system.gravity))
    frames = [x for R, r in made.frames for x in (*R.refs, *r.refs)]
    outputs = {
        "frames": ((len(made.frames), 12), frames),
        "numbers": ((len(made.numbers),), made.numbers),
        "moving": ((len(made.moving),), made.moving),
    }
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    return Scene(
        model=s.system.name,
        bodies=tuple(b.name for b in s.system.tree),
        frames=tuple(made.owners),
        places=made.places,
        solids=tuple(made.solids),
        program=program(g, inputs, outputs, "scene"),
        normal=_normal(made),
        up=up,
        towards=towards,
        trails=trails,
        arrows=arrows,
        touches=touches,
        hinges=made.hinges,
        grips=grips,
        heights=heights,
    )


def _normal(made: SceneBuilder) -> int | None:
    """The ground axis to which all motion is normal: along it no origin moves, and about it alone frames turn. Of several, the
    one across gravity, else the last.
    """
    s = made.d.symbols
    varied = {x >> 1 for x in (s.t, *s.q)}

    def still(refs: Iterable[Ref]) -> bool:
        return varied.isdisjoint(reachable(s.graph, refs))

    found = [k for k in (1, 0, 2) if all(still((*R.rows[k], *R.column(k).refs, r[k])) for R, r in made.frames)]
    weighed = [k for k, x in enumerate(s.system.gravity) if x.value != 0]
    across = [k for k in found if k not in weighed]
    return next(iter(across or found), None)
