"""Reading the text language ``.kin``. Text is parsed by a grammar and never evaluated."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from kineta.algebra.expression import Expr, expr, symbol
from kineta.errors import ArgumentError, Location, ModelError, did_you_mean
from kineta.model import joints, units
from kineta.model.axis import LETTERS
from kineta.model.body import GROUND, Body, Inertia, Point
from kineta.model.checks.diagnostics import CheckError
from kineta.model.checks.name_scopes import check_named
from kineta.model.coercion import Vector3, vector
from kineta.model.dimensions import multiplier_dimensions
from kineta.model.io.kin_diagnostics import check_depth, syntax_error
from kineta.model.io.kin_expressions import Reader
from kineta.model.io.kin_functions import function
from kineta.model.io.kin_grammar import GRAMMAR, STARTS, Grammar, extended
from kineta.model.io.kin_inertia import InertiaList
from kineta.model.io.kin_loops import MOST, Repetitions
from kineta.model.io.kin_quantities import DimensionedExpr, Node
from kineta.model.io.kin_source import Source
from kineta.model.io.text_file import read_text
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion, Motion
from kineta.model.motion_program import Control, read_control
from kineta.model.motion_variables import Quasi, State
from kineta.model.name_inference import infer_coordinates
from kineta.model.named_expressions import Let, Output, dependency_order, substitute_names
from kineta.model.parameters import Parameter
from kineta.model.reserved_symbols import MULTIPLIER, POINT_COMPONENTS, TIME
from kineta.model.system import System
from kineta.model.transformations.submodel import Submodel
from kineta.model.units import Dimension
from kineta.passes.evaluate import evaluate
from kineta.threads import once

#: Turns and shifts by their letters.
_ELEMENTARY: Mapping[str, type[ElementaryMotion]] = {kind.letter: kind for kind in joints.ELEMENTARY}
#: Statements read first: declarations, then bodies, frames and points.
_DECLARED = ("parameters", "constants")
_FRAMES = ("point", "body", "frame", "coordinates")


def read(
    text: str,
    file: str = "<text>",
    constants: Mapping[str, float] = MappingProxyType({}),
    users: tuple[Path, ...] = (),
    text_of: Callable[[Path], str] = read_text,
) -> System:
    """The system that *text* describes; *file* is the name that errors show, *constants* are other values of its constants, and
    *users* the files that use this one; *text_of* gives the texts of files that it uses.

    Raises :class:`ModelError`, with file, line and column, for whatever cannot be read or makes no sense.
    """
    with _collector_paused():
        grammar, tree = parsed(text, file)
        statements = _Statements(file, grammar, given=dict(constants), users=users, text_of=text_of)
        return statements.read(tree, "[" in text)


def parsed(text: str, file: str) -> tuple[Grammar, Tree[Token]]:
    """The syntax tree of *text*, and the grammar by which it was found. Raises :class:`ModelError` for a text without one."""
    check_depth(text, file)
    try:
        return GRAMMAR, GRAMMAR.parser.parse(text, start=STARTS[0])
    except UnexpectedInput as error:
        return _extended(text, file, error)


def _extended(text: str, file: str, error: UnexpectedInput) -> tuple[Grammar, Tree[Token]]:
    """The grammar with installed kinds, and the tree by it of a *text* in which the grammar of the library finds an *error*."""
    try:
        grammar = extended(text)
    except ArgumentError as fault:
        raise ModelError(f"{file}: {fault}") from None
    if grammar is None:
        raise syntax_error(error, text, file) from None
    try:
        return grammar, grammar.parser.parse(text, start=STARTS[0])
    except UnexpectedInput as own:
        raise syntax_error(own, text, file) from None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Garbage collection paused: it would traverse a growing tree without cycles again and again, as long as reading takes."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def definitions(text: str, file: str, dimensions: Mapping[str, Dimension] = {}) -> dict[str, Expr]:
    """The expressions of a list ``name = expression, ...``, of the *dimensions* that names have, where these are known; *file* is
    the name that errors show.
    """
    if not text.strip():
        raise ModelError(f"{file}: expected name = expression, ..., found nothing.")
    tree = _fragment(text, file, "definitions")
    reader, pairs = Reader(file, dimensions), [d.children for d in tree.children if isinstance(d, Tree)]
    names = [str(name) for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ModelError(f"{file}: expected every name once, found '{twice}' twice.")
    return {
        str(name): reader.expression(value, dimensions.get(str(name)), f"'{name}'")
        for name, value in pairs
        if isinstance(value, Tree)
    }


def expression(text: str, file: str) -> Expr:
    """The expression *text*; *file* is the name that errors show."""
    return Reader(file, {}).expression(_expression_tree(text, file))


def _model_in(
    path: Path, constants: Mapping[str, float], users: tuple[Path, ...], text_of: Callable[[Path], str]
) -> System:
    """The model in a file that another uses."""
    if path.suffix == ".urdf":
        from kineta.model.io import urdf

        return urdf.read(path, floating=False)
    if path.suffix != ".kin":
        raise ModelError(f'{path}: expected the file of a model, as in "leg.kin" or "robot.urdf".')
    return read(text_of(path), str(path), constants, users, text_of)


def _expression_tree(text: str, file: str) -> Tree[Token]:
    """The syntax tree of the expression *text*."""
    (tree,) = (x for x in _fragment(text, file, "expression").children if isinstance(x, Tree))
    return tree


def _fragment(text: str, file: str, rule: str) -> Tree[Token]:
    """Syntax tree of a *text* by a *rule* of the grammar other than a model."""
    if ";" in text:
        commas = " with commas between" if rule == "definitions" else ""
        raise ModelError(f"{file}: expected {rule}{commas}, found ';' in '{text}'.")
    check_depth(text, file)
    try:
        return GRAMMAR.parser.parse(f"{text}\n;", start=rule)
    except UnexpectedInput as error:
        raise syntax_error(error, text, file, f"the {rule}") from None


# -- from tree to records -----------------------------------------------------------------------------------------


@dataclass
class _Statements:
    """Records read so far, and the state of the reader."""

    file: str
    grammar: Grammar = GRAMMAR
    name: str = ""
    gravity: Vector3 = field(default_factory=lambda: vector((0, 0, 0)))
    bodies: list[Body] = field(default_factory=list)
    coordinates: list[str] | None = None
    included: tuple[str, ...] = ()
    used: list[Submodel] = field(default_factory=list)
    counting: set[str] = field(default_factory=set)
    models: dict[Any, System] = field(default_factory=dict)
    brought: dict[str, list[Any]] = field(default_factory=lambda: {"bodies": [], "points": [], "parameters": []})
    given: Mapping[str, float] = field(default_factory=dict)
    users: tuple[Path, ...] = ()
    text_of: Callable[[Path], str] = read_text
    start: tuple[tuple[str, Expr], ...] = ()
    parameters: list[Parameter] | None = None
    records: dict[str, list[Any]] = field(default_factory=lambda: {argument: [] for argument in GRAMMAR.kinds})
    points: dict[str, Point] = field(default_factory=dict)
    initial: list[tuple[str, Expr]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    quasi: list[Quasi] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    control: Control | None = None
    lets: list[tuple[Token, Node]] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)
    dimensions: dict[str, Dimension] = field(default_factory=dict)
    forms: dict[str, Dimension] = field(default_factory=dict)
    places: dict[str, Location] = field(default_factory=dict)

    def read(self, tree: Tree[Token], indexed: bool) -> System:
        """The system of the statements of *tree*: declarations first, so that the order of statements is free; *indexed* tells
        whether there are indices in it.
        """
        self.reader = Source(self.file, self.dimensions, self.points, self.values)
        statements = [s for s in tree.children if isinstance(s, Tree)]
        if indexed or any(s.data == "for" for s in statements):
            parse = partial(_expression_tree, file=self.file)
            repetitions = Repetitions(self.file, *self._counts(statements), parse)
            statements = list(repetitions.written_out(statements))
            self.counting = repetitions.named
        self.named = _named_by_motion(statements)
        self._take(s for s in statements if s.data == "include")
        self._take(s for s in statements if s.data == "let")  # values of parameters may call functions
        self._take(s for s in statements if s.data in _DECLARED)
        self._define()
        self._take(s for s in statements if s.data == "use")
        self._take(s for s in statements if s.data in _FRAMES)
        self.reader.moving = self._moving()
        self.reader.bodies = dict.fromkeys([*(b.name for b in (*self.bodies, *self.brought["bodies"])), GROUND])
        self.reader.declared = {p.name for p in (*(self.parameters or ()), *self.brought["parameters"])}
        self._define()  # anew, since the dimensions of coordinates are known by now
        self._take(s for s in statements if s.data == "quasi")
        self._know_states(statements)
        self._take(s for s in statements if s.data not in ("include", "use", "let", "quasi", *_DECLARED, *_FRAMES))
        unused = self._not_called()
        try:
            system = self._system()
            check_named(system, unused)
        except CheckError as fault:
            raise self._placed(fault) from None
        watched = [name for switch in system.switches for name in switch.watched.symbols()]
        if forces := multiplier_dimensions(system, (name for name in watched if name.startswith(MULTIPLIER))):
            self.reader.moving = {**self.reader.moving, **forces}
            self._take(
                s for s in statements if s.data == "when"
            )  # anew, since the dimensions of forces are known by now
        return system

    def _take(self, statements: Iterable[Node]) -> None:
        for statement in statements:
            kind = str(statement.data)
            if kind in self.grammar.forms:
                record = self.grammar.forms[kind][1].read(self.reader, *statement.children)
                self.records[self.grammar.arguments[type(record)]].append(record)
            else:
                getattr(self, f"_{kind}")(statement)

    def _system(self) -> System:
        return System(
            self.name or _name_of(self.file),
            self.bodies,
            gravity=self.gravity,
            coordinates=self._listed(),
            parameters=self.parameters,
            points=[p for p in self.points.values() if p not in self.brought["points"]],
            initial=[*(s for s in self.start if s[0] not in dict(self.initial)), *self.initial],
            outputs=self.outputs,
            quasi=self.quasi,
            states=self.states,
            control=self.control,
            lets=[Let(str(n), self.reader.lets[n].value, self._at(n)) for n, _ in self.lets],
            use=self.used,
            **self.records,  # lists of records, by the arguments that take them
        )

    def _listed(self) -> list[str] | None:
        """Listed coordinates, the coordinates of a robot first; None if they are to be inferred."""
        if not self.included:
            return self.coordinates
        own = self.coordinates
        if own is None:
            found = infer_coordinates(self.bodies, {p.name for p in self.parameters or ()}, self.named)
            own = [c for c in found if c not in self.included]
        return [*(c for c in self.included if c not in own), *own]

    def _placed(self, fault: CheckError) -> CheckError:
        """*fault* at the place that it is about: that of its part of the model, or of its symbol inside a record."""
        start = self.places.get(fault.part) or fault.location or Location(self.file, 1, 1)
        uses = self.reader.places.get(fault.symbol, ()) if start.file == self.file else ()
        own = [u for u in uses if (u.read_for.line, u.read_for.column) >= (start.line, start.column)]
        if not own:
            return fault.at(start)
        first = min(own, key=lambda u: (u.read_for.line, u.read_for.column))
        return fault.at(first.at, first.within)

    def _once(self, node: Node) -> None:
        """Raise for a repeated statement of a kind allowed once."""
        first = self.places.setdefault(f"the {node.data}", self._at(node))
        if first != self._at(node):
            raise ModelError(f"'{node.data}' is given twice, first at {first}.", self._at(node))

    def _at(self, node: Any) -> Location:
        return self.reader.location(node)

    # -- declarations -----------------------------------------------------------------------------------------

    def _model(self, node: Node) -> None:
        self._once(node)
        self.name = str(node.children[0])

    def _include(self, node: Node) -> None:
        """Read an included robot; its gravity and initial values may be overridden."""
        self._once(node)
        from kineta.model.io import urdf

        name, floating = node.children
        path = Path(self.file).parent / name[1:-1]
        if path.suffix != ".urdf":
            raise ModelError(f'expected the file of a robot, as in "robot.urdf", found {name}.', self._at(name))
        try:
            robot = urdf.read(path, floating=floating is not None)
        except ModelError as error:
            if error.location is not None:
                raise
            raise ModelError(str(error), self._at(name)) from None
        self.gravity, self.included = robot.gravity, robot.coordinates
        self.bodies += robot.bodies
        for argument, own in self.records.items():
            own += getattr(robot, argument)
        self.start = robot.initial

    def _gravity(self, node: Node) -> None:
        self._once(node)
        (value,) = node.children
        self.places["gravity"] = self._at(value)
        if value.data == "vector":
            self.gravity = self.reader.vector(value, units.ACCELERATION, "gravity")
        else:
            down = -self.reader.expression(value, units.ACCELERATION, "gravity")
            self.gravity = (expr(0), expr(0), down)

    def _parameters(self, node: Node, *, fixed: bool = False) -> None:
        if self.parameters is None:
            self.parameters = []
        for declaration in node.children:
            name, tree = declaration.children
            value = default = None
            if tree is not None:
                quantity = self.reader.quantity(tree)
                if quantity.dimension is not None and not quantity.plain:
                    self.dimensions[str(name)] = quantity.dimension
                value = self.reader.number(quantity.value, tree, f"parameter '{name}'")
                default = None if quantity.value.value is not None else quantity.value
                if fixed and str(name) in self.given:
                    value, default = self.given[str(name)], None
            elif fixed:
                raise ModelError(f"constant '{name}': expected a value, found none.", self._at(name))
            if value is not None:
                self.values[str(name)] = value
            own = self.dimensions.get(str(name))
            counts = str(name) in self.counting
            self.parameters.append(Parameter(str(name), value, fixed, self._at(name), own, default, counts))

    def _constants(self, node: Node) -> None:
        self._parameters(node, fixed=True)

    def _counts(self, statements: Iterable[Node]) -> tuple[dict[str, float], dict[str, Dimension]]:
        """The constants of *statements* that are numbers, which bounds and indices may name, and their dimensions."""
        dimensions, found = dict[str, Dimension](), dict[str, float]()
        reader = Reader(self.file, dimensions)
        for declaration in (d for s in statements if s.data == "constants" for d in s.children):
            name, tree = declaration.children
            if tree is not None and not {*_names(tree)} - found.keys():
                own = reader.quantity(tree)
                value = float(evaluate(own.value.graph, [own.value.ref], found)[0])
                found[str(name)] = self.given.get(str(name), value)
                if own.dimension is not None and not own.plain:
                    dimensions[str(name)] = own.dimension
        return found, dimensions

    def _use(self, node: Node) -> None:
        """Read a model and place it; all other statements know what it brings."""
        file, prefix, on, at, values = node.children
        pairs = [d.children for d in values.children] if values is not None else []
        names = [str(name) for name, _ in pairs]
        for k, (name, _) in enumerate(pairs):
            if str(name) in names[:k]:
                first = self._at(pairs[names.index(str(name))][0])
                raise ModelError(f"'{name}' is given twice for model '{prefix}', first at {first}.", self._at(name))
        known = {str(name): self.reader.quantity(tree) for name, tree in pairs}
        own_values = {n.removeprefix(f"{prefix}."): x for n, x in self.given.items() if n.startswith(f"{prefix}.")}
        known = {name: x for name, x in known.items() if str(name) not in own_values}
        numbers = {name: x.value.value for name, x in known.items() if x.value.value is not None}
        system = self._model_in(file, numbers | own_values)
        own = {p.name: p for p in system.parameters}
        for name, tree in pairs:
            if str(name) in own and str(name) in known and known[str(name)].shown:
                self.reader.expect(tree, known[str(name)], own[str(name)].dimension, f"the value of '{name}'")
        place, where = self._motions(at), self._at(prefix)
        given = tuple((name, x.value) for name, x in known.items())
        used = Submodel(system, str(prefix), str(on or GROUND), place, given, where)
        self.used.append(used)
        self.parameters = self.parameters or []
        brought = used.parts(p.name for p in self.parameters)
        for name, records in self.brought.items():
            records += brought[name]
        if (count := len(self.brought["bodies"])) > MOST:
            raise ModelError(f"the models in it bring {count} bodies; expected {MOST} at most.", where)
        self.points |= {p.name: p for p in brought["points"]}
        self.dimensions |= {p.name: p.dimension for p in brought["parameters"] if p.dimension is not None}
        self.forms |= {own.name: own.dimension for own in brought["states"] if own.dimension is not None}
        self.reader.lets |= {let.name: DimensionedExpr(let.value) for let in brought["lets"]}

    def _model_in(self, name: Token, constants: Mapping[str, float]) -> System:
        """The model in the file of this *name*, from the folder of this one."""
        path = Path(self.file).parent / name[1:-1]
        key = path, tuple(sorted(constants.items()))
        if key not in self.models:
            users = (*self.users, Path(self.file).resolve())
            if path.resolve() in users:
                ring = " uses ".join(f"'{p.name}'" for p in (*users[users.index(path.resolve()) :], path))
                raise ModelError(f"a model cannot be part of itself: {ring}.", self._at(name))
            try:
                self.models[key] = _model_in(path, constants, users, self.text_of)
            except ModelError as error:
                if error.location is not None:
                    raise
                raise ModelError(str(error), self._at(name)) from None
        return self.models[key]

    def _let(self, node: Node) -> None:
        for meaning in node.children:
            name, formals, body = meaning.children
            if formals is None:
                self.lets.append((name, body))
            elif str(name) in self.reader.functions:
                before = self.reader.functions[str(name)].location
                raise ModelError(f"the function '{name}' is given twice, first at {before}.", self._at(name))
            else:
                self.reader.functions[str(name)] = function(name, formals.children, body, self._at)

    def _not_called(self) -> list[Let]:
        """The functions that nothing calls, for any arguments, where the names in them can be told from new ones."""
        lone = [f for f in self.reader.functions.values() if f.name not in self.reader.called]
        return [
            Let(own.name, substitute_names({n: symbol(TIME) for n in _placeholders(own.formals)}, value), own.location)
            for own in lone
            for value in self.reader.body_value(own)
            if self.parameters is not None
        ]

    def _define(self) -> None:
        """Read named expressions in the order of their dependencies."""
        trees = {str(name): tree for name, tree in self.lets}
        uses = {name: set(_names(tree)) for name, tree in trees.items()}
        places = {str(n): self._at(n) for n, _ in self.lets}
        for own in self.reader.functions.values():
            uses[own.name] = {*uses.get(own.name, ()), *(set(_names(own.body)) - {*own.formals})}
            places.setdefault(own.name, own.location)
        for name in dependency_order(uses, places):
            if name in trees:
                self.reader.lets[name] = self.reader.quantity(trees[name])

    def _coordinates(self, node: Node) -> None:
        if self.coordinates is None:
            self.coordinates = []
        self.coordinates += (str(c) for c in node.children)
        self.places |= {f"coordinate {c}": self._at(c) for c in node.children}

    # -- bodies -----------------------------------------------------------------------------------------------

    def _body(self, node: Node) -> None:
        name, base, motions, inertia = node.children
        own = InertiaList(self.reader, str(name), inertia).read()
        self.places[f"inertia {name}"] = self._at(inertia)
        self.bodies.append(Body(str(name), str(base or GROUND), self._motions(motions), own, self._at(name)))

    def _frame(self, node: Node) -> None:
        name, base, motions = node.children
        self.bodies.append(Body(str(name), str(base or GROUND), self._motions(motions), Inertia(), self._at(name)))

    def _motions(self, node: Node | None) -> tuple[Motion, ...]:
        return tuple(self._motion(m) for m in node.children) if node is not None else ()

    def _motion(self, node: Node) -> Motion:
        name, axis, argument = node.children
        kind = str(name).replace("_", "")
        elementary, letter = _ELEMENTARY.get(kind[:1]), kind[1:]
        if elementary is not None and letter in (LETTERS if axis is None else ("",)):
            direction = LETTERS[letter] if axis is None else self.reader.axis(axis)
            what = f"the {elementary.argument_name} of {name}"
            return elementary(direction, self.reader.expression(argument, elementary.dimension, what))
        try:
            joint = joints.joint_of(kind) if axis is None and letter else None
        except ArgumentError as error:
            raise ModelError(str(error), self._at(node)) from None
        if joint is None:
            raise self._unknown_motion(str(name), axis is not None, self._at(node))
        if argument.data != "name" or "'" in argument.children[0]:
            raise ModelError(f"{kind} takes a name, found an expression.", self._at(argument))
        own = str(argument.children[0])
        self.places[f"motion {own}"] = self.places[f"coordinate {own}"] = self._at(argument)
        return joint(own)

    def _unknown_motion(self, name: str, with_axis: bool, location: Location) -> ModelError:
        if with_axis:
            along = " and ".join(f"{letter}[x, y, z](...)" for letter in _ELEMENTARY)
            return ModelError(f"'{name}' takes no axis in brackets; only {along} do.", location)
        if name in _ELEMENTARY:
            return ModelError(
                f"'{name}' needs its axis: {name}x(...), {name}y(...), {name}z(...) or {name}[x, y, z](...).", location
            )
        lettered = [letter + axis for letter in _ELEMENTARY for axis in LETTERS]
        expected = ", ".join([*lettered, *(f"{letter}[x, y, z]" for letter in _ELEMENTARY), joints.words()])
        near = did_you_mean(name, (*lettered, *joints.known_words()))
        return ModelError(f"unknown motion '{name}'; expected {expected}.{near}", location)

    def _point(self, node: Node) -> None:
        name, body, position = node.children
        if str(name) in self.points:
            raise ModelError(f"point '{name}' is described twice.", self._at(name))
        where = self.reader.vector(position, units.LENGTH, "the position of a point")
        self.points[str(name)] = Point(str(name), str(body), where, self._at(name))

    # -- control, quasi-velocities -----------------------------------------------------------------------------------------

    def _control(self, node: Node) -> None:
        self._once(node)
        self.control = read_control(self.reader, node)

    def _quasi(self, node: Node) -> None:
        for child in node.children:
            name, value = child.children
            meant = self.reader.symbol(name)
            if value is not None:
                form = self.reader.quantity(value)
                meant = form.value
                if form.dimension is not None and not form.plain:
                    self.forms[str(name)] = form.dimension
            self.quasi.append(Quasi(str(name), meant, self._at(name)))
        self.reader.moving = {**self.reader.moving, **self.forms}

    # -- first-order states ----------------------------------------------------------------------------------------------

    def _know_states(self, statements: Sequence[Node]) -> None:
        """Know the dimensions of states: those that are given, then of others that of the rate times a second."""
        own = [s for s in statements if s.data == "state"]
        for name, unit, _, _ in (s.children for s in own):
            if unit is not None:
                self.forms[str(name)] = self._dimension(unit)
        while True:
            known = dict(self.forms)
            self.reader.moving = {**self.reader.moving, **known}
            for name, unit, _, tree in (s.children for s in own):
                if str(name) not in self.forms and unit is None:
                    rate = self.reader.quantity(tree)
                    if rate.dimension is not None and not rate.plain:
                        self.forms[str(name)] = units.times(rate.dimension, units.TIME)
            if known == self.forms:
                return

    def _dimension(self, unit: Token) -> Dimension:
        try:
            return units.unit(str(unit)).dimension
        except ModelError as error:
            raise ModelError(str(error), self._at(unit)) from None

    def _state(self, node: Node) -> None:
        name, given, rate, tree = node.children
        if str(rate) != f"{name}'":
            text = f"state '{name}': expected the rate {name}' = ..., found {rate}."
            primes = len(rate) - len(rate.rstrip("'"))
            if rate.rstrip("'") == name and primes > 1:
                text = (
                    f"state '{name}': a state is of first order, found {rate}; give its rate {name}', and that of a further "
                    f"state for the next order, as in state {name}_rate : {name}_rate' = ...;"
                )
            raise ModelError(text, self._at(rate))
        dimension = self.forms.get(str(name))
        expected = None if dimension is None else units.times(dimension, units.TIME, -1)
        value = self.reader.expression(tree, expected, f"the rate of state '{name}'")
        shown = "" if dimension is None else units.symbol(dimension)
        self.states.append(State(str(name), value, shown if given is None else str(given), self._at(name)))

    # -- runs ---------------------------------------------------------------------------------------------------

    def _initial(self, node: Node) -> None:
        for setting in node.children:
            name, value = setting.children
            self.places[f"initial {name}"] = self._at(name)
            if value.data == "vector":
                raise ModelError(f"initial '{name}': expected one value, found three.", self._at(value))
            dimension = self._kind(str(name))
            self.initial.append((str(name), self.reader.expression(value, dimension, f"initial '{name}'")))

    def _kind(self, name: str) -> Dimension | None:
        """Dimension of a coordinate or speed, where a motion shows it, or of a quasi-velocity, where its form does."""
        bare = name.rstrip("'")
        dimension = self.forms.get(bare, self._dimensions.get(bare))
        return None if dimension is None else units.times(dimension, units.TIME, len(bare) - len(name))

    @once
    def _dimensions(self) -> dict[str, Dimension]:
        """Dimensions of the coordinates that are an angle or a distance themselves; an angle, where one is both."""
        shown: dict[str, Dimension] = {}
        for kind in joints.ELEMENTARY:
            for motion in (m for m in self._all_motions() if isinstance(m, kind)):
                if motion.argument.name is not None:
                    shown.setdefault(motion.argument.name, kind.dimension)
        return shown

    def _moving(self) -> dict[str, Dimension]:
        """Dimensions of coordinates and speeds that motions show, and of components of points and bodies."""
        declared = {p.name for p in self.parameters or ()}
        listed = [*(self._listed() or infer_coordinates(self.bodies, declared, self.named))]
        listed += (c for own in self.used for c in own.coordinates)
        motions = self._all_motions()
        self.reader.coordinates = set(listed) - declared - {m.name for m in motions if isinstance(m, Joint)}
        named = [{m.argument.name for m in motions if isinstance(m, kind)} for kind in joints.ELEMENTARY]
        found: dict[str, Dimension] = {}
        for name in set(listed) - declared:
            if sum(name in own for own in named) == 1:  # a name of both stands for either
                found |= {n: self._kind(n) or units.NUMBER for n in (name, f"{name}'")}
        for motion in motions:
            if isinstance(motion, Joint):
                found |= {n: units.unit(own).dimension for n, own in motion.units.items()}
        for owner in (*(b.name for b in (*self.bodies, *self.brought["bodies"])), *self.points):
            found |= {f"{owner}.{c}": units.VELOCITY if c[0] == "v" else units.LENGTH for c in POINT_COMPONENTS}
        return found

    def _all_motions(self) -> list[Motion]:
        return [m for b in (*self.bodies, *self.brought["bodies"]) for m in b.motions]

    def _output(self, node: Node) -> None:
        for shown in node.children:
            name, value = shown.children
            for label, value_expr in self._shown(name, value):
                self.outputs.append(Output(label, value_expr, self._at(name)))

    def _shown(self, name: Token, value: Node | None) -> Iterator[tuple[str, Expr]]:
        """Names and expressions of an item of an ``output`` statement; ``P.position`` stands for three components."""
        owner, _, kind = name.rpartition(".")
        if value is not None:
            yield str(name), self.reader.expression(value)
        elif kind in ("position", "velocity") and owner:
            for axis in "xyz":
                label = f"{owner}.{axis if kind == 'position' else 'v' + axis}"
                yield label, self.reader.symbol(name.update(value=label))
        else:
            yield str(name), self.reader.symbol(name)


def _named_by_motion(statements: Sequence[Node]) -> set[str]:
    """Names with an initial value or a speed in a text that is not read yet: :func:`kineta.model.name_inference.moving`."""
    initial = [str(s.children[0]) for t in statements if t.data == "initial" for s in t.children]
    speeds = (n for t in statements if t.data not in _FRAMES for n in _names(t) if n.endswith("'"))
    return {n.rstrip("'") for n in (*initial, *speeds)}


def _names(tree: Tree[Token]) -> Iterator[str]:
    """All names in *tree*."""
    for part in tree.iter_subtrees():
        yield from (str(c) for c in part.children if isinstance(c, Token) and c.type == "NAME")


def _placeholders(formals: Sequence[str]) -> Iterator[str]:
    """The symbols that stand for the arguments *formals* of a function that nothing calls."""
    return (n for name in formals for n in (name, *(f"{name}.{c}" for c in LETTERS)))


def _name_of(file: str) -> str:
    """A name for the model that a file without the statement ``model`` describes."""
    name = re.sub(r"\W", "_", Path(file).stem.strip("<>"))
    return name if name[:1].isidentifier() else f"_{name}"
