"""Names of a text: what each stands for, where it is described, and where it is used, from the syntax tree of the reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path

from lark import Token, Tree

from kineta.editors import words
from kineta.model import joints, vectors
from kineta.model.body import GROUND
from kineta.model.io.kin_grammar import Grammar
from kineta.model.io.kin_quantities import Node
from kineta.model.reserved_symbols import LETTER, MULTIPLIER, forced
from kineta.records import dataclass

#: Groups of names: within one, no two things have the same name.
FRAMES, VARIABLES, FUNCTIONS = "frames", "variables", "functions"
ELEMENTS, CONDITIONS, PREFIXES, OUTPUTS, LOCAL = "elements", "conditions", "prefixes", "outputs", "local"
_SEGMENT = re.compile(rf"(?!\d){LETTER}+((?:\[[^\[\]]*\])*)")
_WORD = re.compile(rf"(?!\d){LETTER}+")
#: Children of statements that are words of the language: shapes, joints, laws.
_WORDS: dict[str, tuple[int, ...]] = {
    "contact": (1, 3),
    "rolling": (1,),
    "loop": (1,),
    "option": (0,),
    "motion": (0,),
    "control": (0,),
}
_WORDS |= {"shape": (1,), "show": (0,), "view": (0,), "colour": (0,), "alike": (0,)}


@dataclass(frozen=True, slots=True)
class Entity:
    """What a name stands for, in the *file* that describes it: its *group*, its *name* without indices, ``Link[]``, and its
    *kind* in words.
    """

    file: str
    group: str
    name: str
    kind: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place, from *start* to *end* in characters of the text, at which an *entity* is named or, if it *defines*, described."""

    start: int
    end: int
    entity: Entity
    defines: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """A statement that describes an *entity*: from *start* to *end*, with its name at *at*, whose indices end at *written*."""

    entity: Entity
    start: int
    end: int
    at: tuple[int, int]
    written: int


#: The names of the text in a file that another uses; None where it cannot be read.
Load = Callable[[Path], "Names | None"]


class Names:
    """The names of the *text* of a *file*: ``occurrences`` and ``descriptions``, in their order. *tree* is its syntax tree by a
    *grammar*, and *load* gives the names of the files that it uses.
    """

    def __init__(self, file: str, text: str, grammar: Grammar, tree: Node, load: Load) -> None:
        self.file, self.text, self.grammar, self.load = file, text, grammar, load
        self.tables: dict[str, dict[str, Entity]] = {}
        self.used: dict[str, Names | None] = {}
        #: The words of motions with coordinates of their own, by their names.
        self.joints: dict[str, str] = {}
        self.descriptions: list[Declaration] = []
        self._found: dict[tuple[int, int], Occurrence] = {}
        statements = [s for s in tree.children if isinstance(s, Tree)]
        for statement in statements:
            self._describe(statement)
        for statement in statements:
            self._visit_statement(statement, {})
        self.occurrences = sorted(self._found.values(), key=lambda o: o.start)

    def at(self, offset: int) -> Occurrence | None:
        """The occurrence at an *offset* of the text; the innermost, None for none."""
        here = [o for o in self.occurrences if o.start <= offset <= o.end]
        return min(here, key=lambda o: o.end - o.start, default=None)

    def of(self, entity: Entity) -> list[Occurrence]:
        """The occurrences of an *entity*."""
        return [o for o in self.occurrences if o.entity == entity]

    def entities(self, *groups: str) -> Iterator[Entity]:
        """The entities of these *groups* that the text describes."""
        for group in groups or self.tables:
            yield from self.tables.get(group, {}).values()

    # -- what the text describes ------------------------------------------------------------------------------------------

    def _describe(self, node: Node) -> None:
        kind = str(node.data)
        match kind:
            case "body" | "frame" | "point":
                self._define(node, node.children[0], FRAMES, kind)
                for motion in node.find_data("motion"):
                    self._describe_joint(node, motion)
            case "use":
                self._define(node, node.children[1], PREFIXES, "model")
                path = Path(self.file).parent / str(node.children[0])[1:-1]
                self.used[key(str(node.children[1]))] = self.load(path)
            case "for":
                for own in (c for c in node.children[4:] if isinstance(c, Tree)):
                    self._describe(own)
            case "parameters" | "constants":
                for own in node.children:
                    self._define(own, own.children[0], VARIABLES, kind.removesuffix("s"))
            case "let":
                for own in node.children:
                    of_arguments = own.children[1] is not None
                    kind = "function" if of_arguments else "named expression"
                    self._define(own, own.children[0], FUNCTIONS if of_arguments else VARIABLES, kind)
            case "coordinates":
                for name in node.children:
                    self._define(node, name, VARIABLES, "coordinate")
            case "quasi":
                for own in (c for c in node.children if c.children[1] is not None):
                    self._define(own, own.children[0], VARIABLES, "quasi-velocity")
            case "state":
                self._define(node, node.children[0], VARIABLES, "state")
            case "output":
                for own in (c for c in node.children if c.children[1] is not None):
                    self._define(own, own.children[0], OUTPUTS, "output")
            case _ if kind in self.grammar.forms and kind not in self._of(
                "appearance"
            ):  # which names the body it is about
                group = ELEMENTS if kind in self._of("elements") else CONDITIONS
                self._define(node, node.children[0], group, self.grammar.forms[kind][0])

    def _of(self, argument: str) -> set[str]:
        """The forms of the kinds of an *argument* of systems."""
        return {name for kind in self.grammar.kinds[argument] for name in kind.forms}

    def _describe_joint(self, statement: Node, motion: Node) -> None:
        name, _, argument = motion.children
        if str(name).replace("_", "") in joints.known_words() and argument.data == "name":
            self.joints[key(str(argument.children[0]))] = str(name).replace("_", "")
            self._define(statement, argument.children[0], VARIABLES, f"{name} motion")

    def _define(self, statement: Node, token: Token, group: str, kind: str) -> None:
        name = key(str(token))
        entity = self.tables.setdefault(group, {}).setdefault(name, Entity(self.file, group, name, kind))
        end, bare = token.end_pos or 0, (token.start_pos or 0) + len(_bare(str(token)))
        start = (token.start_pos or 0) + str(token).rfind(".", 0, bare - (token.start_pos or 0)) + 1
        self._note(start, bare, entity, defines=True)
        meta = statement.meta
        first = getattr(meta, "start_pos", start)
        self.descriptions.append(Declaration(entity, first, getattr(meta, "end_pos", end), (start, bare), end))

    def _note(self, start: int, end: int, entity: Entity, *, defines: bool = False) -> None:
        known = self._found.get((start, end))
        if known is None or (defines and not known.defines):
            self._found[start, end] = Occurrence(start, end, entity, defines)

    # -- what the text uses -----------------------------------------------------------------------------------------------

    def _visit_statement(self, node: Node, scope: Mapping[str, Entity]) -> None:
        kind = str(node.data)
        if kind == "for":
            name, first, _, last, *body = node.children
            entity = Entity(self.file, LOCAL, f"{name}@{name.start_pos}", "index")
            self._note(name.start_pos or 0, name.end_pos or 0, entity, defines=True)
            for bound in (first, last):
                self._visit(bound, scope)
            for own in (c for c in body if isinstance(c, Tree)):
                self._visit_statement(own, {**scope, str(name): entity})
            return
        if kind == "let":
            for own in node.children:
                self._visit_meaning(own, scope)
            return
        if kind == "use":
            _, prefix, on, at, values = node.children
            self._indices(prefix, scope)
            if on is not None:
                self._resolve(on, (FRAMES,), scope)
            if at is not None:
                self._visit(at, scope)
            used = self.used.get(key(str(prefix)))
            for own in values.children if values is not None else ():
                if used is not None:
                    used._resolve_for(self, own.children[0], (VARIABLES,))
                self._visit(own.children[1], scope)
            return
        self._visit(node, scope)

    def _visit_meaning(self, node: Node, scope: Mapping[str, Entity]) -> None:
        name, formals, body = node.children
        own = dict(scope)
        for token in formals.children if formals is not None else ():
            entity = Entity(self.file, LOCAL, f"{token}@{token.start_pos}", "argument")
            self._note(token.start_pos or 0, token.end_pos or 0, entity, defines=True)
            own[str(token)] = entity
        self._indices(name, scope)
        self._visit(body, own)

    def _visit(self, root: Node, scope: Mapping[str, Entity]) -> None:
        """Note what the names below *root* stand for, without recursion: brackets may be deep."""
        for node in root.iter_subtrees_topdown():  # without recursion
            kind = str(node.data)
            tokens = [
                (k, c) for k, c in enumerate(node.children) if isinstance(c, Token) and c.type in ("NAME", "VECTOR")
            ]
            for k, token in tokens:
                if k not in _WORDS.get(kind, ()):
                    self._visit_token(kind, k, token, scope)

    def _visit_token(self, kind: str, k: int, token: Token, scope: Mapping[str, Entity]) -> None:
        start, bare = token.start_pos or 0, _bare(str(token))
        known = self._found.get((start + bare.rfind(".") + 1, start + len(bare)))
        if known is not None and known.defines:
            self._indices(token, scope)
        elif kind in ("words", "columns"):
            return  # words on a table, and headings in a file
        elif kind == "vector_part":
            self._vector(token, scope)
        elif kind == "call":
            if k == 0 and str(token) in self.tables.get(FUNCTIONS, {}):
                self._resolve(token, (FUNCTIONS,), scope)
        elif kind in ("name", "setting", "shown", "form", "guard", "action", "actuator", "definition"):
            if kind == "name" and self._of_vector(token):
                self._resolve(token, (FRAMES,), scope)
            elif not (kind == "setting" and str(token) == "com"):
                groups = (VARIABLES, FRAMES, CONDITIONS, ELEMENTS)  # of which some kinds may be named as variables are
                self._resolve(token, groups, scope, new="variable" if kind == "name" else "")
        elif str(token) not in ("body", GROUND):
            self._resolve(token, (FRAMES, ELEMENTS, CONDITIONS, VARIABLES), scope)

    def _of_vector(self, token: Token) -> bool:
        """Whether *token* is the argument of a vector, r(P)."""
        before = self.text[max(0, (token.start_pos or 0) - 12) : token.start_pos].rstrip()
        found = re.search(rf"(?<![\w.])({'|'.join(vectors.KINDS)})\s*\($", before)
        return found is not None

    def _vector(self, token: Token, scope: Mapping[str, Entity]) -> None:
        """Note the bodies and points in a vector written as one word, ``a(Tip in Hand).x``."""
        inside = re.search(r"\(([^()]*)\)", token)
        if inside is None:
            return
        for found in re.finditer(rf"(?<![\w.\]]){_SEGMENT.pattern}(?:\.{_SEGMENT.pattern})*", inside[1]):
            if found[0] not in ("in", GROUND):
                start = (token.start_pos or 0) + inside.start(1) + found.start()
                self._resolve(Token("NAME", found[0], start, end_pos=start + len(found[0])), (FRAMES,), scope)

    def _resolve(self, token: Token, groups: tuple[str, ...], scope: Mapping[str, Entity], new: str = "") -> None:
        """Note what *token* stands for, one of *groups*; a name that nothing describes is a *new* one."""
        text, base = str(token).rstrip("'"), token.start_pos or 0
        if (speed := forced(text)) and speed not in scope:
            start = base + text.index("[") + 1
            self._resolve(Token("NAME", speed, start, end_pos=start + len(speed)), groups, scope)
            return
        self._indices(token, scope)
        head = _bare(text).partition(".")[0]
        if head in scope:
            self._note(base, base + len(head), scope[head])
            return
        if text in words.symbols() or text == "unchecked":
            return
        if text.startswith(MULTIPLIER):
            self._parts(self, text[len(MULTIPLIER) :], base + len(MULTIPLIER), (CONDITIONS, ELEMENTS))
            return
        if not self._parts(self, text, base, groups) and new and "." not in text:
            name = key(text)
            entity = self.tables.setdefault(VARIABLES, {}).setdefault(name, Entity(self.file, VARIABLES, name, new))
            self._note(base, base + len(_bare(text)), entity)

    def _resolve_for(self, user: Names, token: Token, groups: tuple[str, ...]) -> None:
        """Note what *token* in the text of a *user* stands for here."""
        self._parts(user, str(token).rstrip("'"), token.start_pos or 0, groups)

    def _parts(self, user: Names, text: str, base: int, groups: tuple[str, ...]) -> bool:
        """Note, for the *user* of this text, the longest part of the dotted *text* at *base* that stands for something here."""
        ends = [m.end() for m in re.finditer(rf"{_SEGMENT.pattern}(?=\.|$)", text)]
        for end in reversed(ends):
            name = key(text[:end])
            for group in (*groups, PREFIXES):
                entity = self.tables.get(group, {}).get(name)
                if entity is None:
                    continue
                start = text.rfind(".", 0, end) + 1 if "." in name else 0
                user._note(base + start, base + start + len(_bare(text[start:end])), entity)
                used = self.used.get(name) if group == PREFIXES else None
                if used is not None and end < len(text):
                    used._parts(user, text[end + 1 :], base + end + 1, groups)
                elif group == CONDITIONS and "." in text[end + 1 :]:  # the force at one of several places
                    self._parts(user, text[end + 1 :], base + end + 1, (FRAMES,))
                return True
        return False

    def _indices(self, token: Token, scope: Mapping[str, Entity]) -> None:
        """Note what stands in the brackets of a name: indices of repetitions, and constants."""
        for bracket in re.finditer(r"\[([^\[\]]*)\]", token):
            for word in _WORD.finditer(bracket[1]):
                start = (token.start_pos or 0) + bracket.start(1) + word.start()
                entity = scope.get(word[0]) or self.tables.get(VARIABLES, {}).get(word[0])
                if entity is not None:
                    self._note(start, start + len(word[0]), entity)


def key(name: str) -> str:
    """A *name* without its primes, and without what stands in its brackets."""
    return re.sub(r"\[[^\[\]]*\]", "[]", name.rstrip("'"))


def _bare(name: str) -> str:
    """A *name* without the indices and primes behind it."""
    return re.sub(r"(?:\[[^\[\]]*\])*'*$", "", name)
