"""Writes ``docs/reference.md`` from the docstrings of the public names, and ``kineta/__init__.pyi``, which tells them to type
checkers: ``python docs/reference.py``.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import kineta as kn
from kineta.tasks.table import TASKS
from kineta.threads import once

PAGE = Path(__file__).with_name("reference.md")
STUB = Path(kn.__file__).with_suffix(".pyi")
#: Rows of the table of tasks, by public name.
ROWS = {name: task for task in TASKS for name in task.public.split()}

HEAD = """# Reference

Every public name, from its docstring: this page is written by `python docs/reference.py`, and a test compares. Shapes are in
brackets, `(nq,)`; units are SI and radians. The pages on [the language](language.md) and [simulation](simulation.md) show the
same at work.
"""

#: Titles of the sections, in order, with the modules and packages whose public names they hold; the longest name counts. Names of
#: tasks stand in the section of their row.
SECTIONS = {
    "Models": ("model",),
    "Files": ("model.io",),
    "Expressions": ("algebra", "interop"),
    "Equations": ("equations", "mechanics", "expr.count"),
    "Verification": (),
    "Runs": ("results", "runtime", "hybrid", "programs"),
    "Motions and forces": (),
    "Equilibria and small motions": (),
    "Derivatives of motions and fits": (),
    "Identification": (),
    "Servo-constraints": (),
    "Errors": ("errors",),
}
#: Special methods that are called by their brackets.
BRACKETS = {"__call__": "()", "__getitem__": "[]"}
WIDTH = 110


def page() -> str:
    """The whole page."""
    titles = {name: _section(name, module) for name, module in kn._modules().items()}
    parts = [HEAD]
    for title in [*SECTIONS, "More"]:
        names = sorted((n for n in kn.__all__ if titles[n] == title), key=lambda n: (n.casefold(), n))
        if names:
            listed = ", ".join(f"[`{n}`](#{_anchor(n)})" for n in names)
            parts += [f"## {title}\n", f"{listed}\n", *map(_entry, names)]
    return "\n".join(parts)


def stub() -> str:
    """The stub: an import for each public name."""
    lines = [
        '"""The public names, for type checkers: this file is written by ``python docs/reference.py``, and a test compares."""',
        "",
    ]
    names = kn._modules().items()
    imports = (f"from {module} import {kn._RENAMED.get(n, n)} as {'_' * (n in kn._RENAMED)}{n}" for n, module in names)
    other = [f"{name} = _{name}" for name in kn._RENAMED]
    return "\n".join([*lines, *sorted(imports, key=_place), "", "__version__: str", *other, ""])


def _place(line: str) -> tuple[str, int, str]:
    """The place of an import in the order of ruff: by module, then constants, classes and functions."""
    _, module, _, name, *_ = line.split()
    return module, 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name


def _section(name: str, module: str) -> str:
    """The title under which a *name* of *module* stands."""
    if name in ROWS:
        return ROWS[name].group
    inside = f"{module.removeprefix('kineta.')}."
    found = [(len(own), title) for title, names in SECTIONS.items() for own in names if inside.startswith(f"{own}.")]
    return max(found, default=(0, "More"))[1]


def _anchor(name: str) -> str:
    """Where a link leads: headings that differ in case only would be one."""
    return f"{name.lower()}-class" if name[0].isupper() and name.lower() in kn.__all__ else name.lower()


def _heading(name: str) -> str:
    return f"### {name} class" if _anchor(name).endswith("-class") else f"### {name}"


def _entry(name: str) -> str:
    value = getattr(kn, name)
    raised = inspect.isclass(value) and issubclass(value, BaseException)
    # Errors are raised, and what has attributes to be read is made by functions: how is no matter.
    made = raised or "Attributes\n---" in (inspect.getdoc(value) or "")
    parameters = [] if made else [*inspect.signature(value).parameters.values()]
    shown = [_heading(name), ""]
    if not made:
        shown += ["```text", *_call(f"kn.{name}", parameters), "```", ""]
    shown += [*_markdown(value, parameters), ""]
    if name in ROWS and ROWS[name].source:
        shown += [f"Source: {ROWS[name].source}.", ""]
    if inspect.isclass(value) and not raised:
        shown += _members(value)
    return "\n".join(shown)


def _call(name: str, parameters: Sequence[inspect.Parameter]) -> list[str]:
    """How *name* is called, without types."""
    shown: list[str] = []
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and "*" not in shown and not any(s.startswith("*") for s in shown):
            shown.append("*")
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={_value(p.default)}"
        shown.append(f"{star}{p.name}{default}")
    line = f"{name}({', '.join(shown)})"
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * (len(name) + 1), break_long_words=False)


def _value(value: Any) -> str:
    """A default as it is written: a record by its name alone."""
    return f"{type(value).__name__}()" if hasattr(value, "__dataclass_fields__") else repr(value)


def _members(kind: type) -> list[str]:
    """A line for each documented property and method; those of a base that has no entry of its own stand with them."""
    found = []
    bases = (
        k for k in kind.__mro__ if k is kind or (k.__module__.startswith("kineta.") and k.__name__ not in kn.__all__)
    )
    own = {name: value for base in reversed([*bases]) for name, value in vars(base).items()}
    for name, value in own.items():
        if name.startswith("_") and name not in BRACKETS:
            continue
        plain = isinstance(value, property | once)
        function = value.fget if isinstance(value, property) else value.work if isinstance(value, once) else value
        if not callable(function) or not inspect.getdoc(function):
            continue
        parameters = [] if plain else [*inspect.signature(function).parameters.values()][1:]
        called = f".{name}" if plain else " ".join(_call(f".{name}", parameters))
        if name in BRACKETS:
            before, after = BRACKETS[name]
            called = f"{before}{called.removeprefix(f'.{name}(')[:-1]}{after}"
        first, *rest = _markdown(function, parameters)
        found += [f"- `{called}`: {first}", *(f"  {line}".rstrip() for line in rest)]
    return ["Properties and methods:", "", *found, ""] if found else []


# -- docstrings --------------------------------------------------------------------------------------------------------

ITEM = re.compile(r"(\w[\w, ]*) : (.*)")


def _markdown(value: Any, parameters: Sequence[inspect.Parameter]) -> list[str]:
    """The docstring of *value* in Markdown: names as code, links to what the page has, lists of arguments as lists."""
    text = inspect.getdoc(value) or ""
    for p in parameters:
        text = re.sub(rf"(?<![\w*])\*{p.name}\*(?![\w*])", f"`{p.name}`", text)
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", lambda m: _link(m[1]), text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r"^(\w+)\n-+\n", r"\1:\n\n", text, flags=re.M)
    shown: list[str] = []
    for paragraph in text.split("\n\n"):
        shown += [*_items(paragraph), ""] if ITEM.match(paragraph) else [*paragraph.splitlines(), ""]
    return shown[:-1]


def _items(paragraph: str) -> Iterator[str]:
    """Lines ``name : what`` as a list; what is indented goes on."""
    for part in re.split(r"\n|; (?=\w[\w, ]* : )", paragraph):
        item = ITEM.fullmatch(part)
        if item:
            yield f"- {', '.join(f'`{n.strip()}`' for n in item[1].split(','))}: {item[2]}"
        else:
            yield f"  {part.strip()}"


def _link(name: str) -> str:
    return f"[`{name}`](#{_anchor(name)})" if name in kn.__all__ else f"`{name}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    STUB.write_text(stub(), encoding="utf-8")
