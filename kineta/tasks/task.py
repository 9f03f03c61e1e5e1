"""``Task``, a row of the table of tasks, and the options of its verb.

Modules and functions stand in a row as text: the table is read without importing a task.
"""

from __future__ import annotations

from dataclasses import field
from importlib import import_module
from typing import Any

from kineta.records import dataclass


def named(path: str) -> Any:
    """Return the object ``module:name``."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Option:
    """An option ``--word`` that becomes the argument *name* of a task's function.

    kind : of the text, a row of ``kineta.cli.readers.READERS``
    word : of the option, where it is not the name; short : a letter for it; with ``positional`` an argument without a word
    default : number or text; ``shown`` is the default of the function, as the help shows it
    limits : least and largest value of a whole number; known : the object ``module:name`` with the words that complete it
    expected : for an option that must not be empty, the end of the sentence that says so
    valued : whether the parameters need values where the option is given
    calls : the function ``module:name`` that is called in place of the task's own where the option is given
    needs : options of which one has to stand beside it, and the reason; excludes : those that may not
    """

    kind: str
    name: str
    help: str
    word: str = ""
    short: str = field(default="", kw_only=True)
    metavar: str | None = None
    default: Any = None
    shown: str = ""
    limits: tuple[int, int] = (0, 0)
    known: str = ""
    multiple: bool = False
    required: bool = False
    positional: bool = False
    expected: str = ""
    valued: bool = True
    calls: str = ""
    needs: tuple[tuple[str, ...], str] = ((), "")
    excludes: tuple[tuple[str, ...], str] = ((), "")

    @property
    def typed(self) -> str:
        """The option as it is typed."""
        return f"--{self.word or self.name.replace('_', '-')}"


@dataclass(frozen=True)
class OptionGroup:
    """Options that make arguments together, by the reader of this *kind*."""

    kind: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Task:
    """A task.

    module : the file, with its packages; public : the public names in it, separated by spaces
    group : the title of the section of the reference
    source : the equations of the theory
    verb : the word on the command line; "" for a task of Python alone
    function : of the module, called with the system and the arguments of the *options*; by default it has the name of the verb
    help : of the verb, the last paragraph are examples, which the tests run; the first line stands in the list of verbs
    record : the class of the module that says the result, made from the system and the result; by default the result is a record
        that says itself: ``lines()`` of text, ``as_dict()`` for ``--json``, ``plot()``
    passed : the attribute of the record that is False where the command ends with 2
    valued : whether all parameters need values, or the name of the option with which alone they do
    """

    module: str
    public: str
    group: str
    source: str = ""
    verb: str = ""
    function: str = ""
    help: str = ""
    options: tuple[Option | OptionGroup, ...] = ()
    record: str = ""
    passed: str = ""
    valued: bool | str = True

    @property
    def flat(self) -> tuple[Option, ...]:
        """All options, those of groups in their places."""
        return tuple(x for part in self.options for x in (part.options if isinstance(part, OptionGroup) else (part,)))

    def object(self, name: str) -> Any:
        """Return the object *name* of the module, or of another one, ``module:name``."""
        return named(name if ":" in name else f"{self.module}:{name}")
