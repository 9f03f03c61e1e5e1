"""Reading the text language ``.kin``. Text is parsed by a grammar and never evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from kineta.algebra.expression import Expr
from kineta.errors import ArgumentError, ModelError
from kineta.model.io.kin_diagnostics import check_depth, syntax_error
from kineta.model.io.kin_expressions import Reader
from kineta.model.io.kin_grammar import GRAMMAR, STARTS, Grammar, extended
from kineta.model.io.statements.model_text import ModelText
from kineta.model.io.statements.table import read_statements
from kineta.model.io.text_file import read_text
from kineta.model.system import System
from kineta.model.units import Dimension
from kineta.threads import collector_paused


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
    with collector_paused():
        grammar, tree = parsed(text, file)
        own = ModelText(file, grammar, dict(constants), users, partial(_model_in, text_of=text_of))
        return read_statements(own, partial(_expression_tree, file=file), tree, "[" in text)


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
    path: Path, constants: Mapping[str, float], users: tuple[Path, ...], *, text_of: Callable[[Path], str]
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
