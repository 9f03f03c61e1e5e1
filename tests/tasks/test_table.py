"""The table of tasks is whole: what a row names is there, and a function takes what its verb gives it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections import Counter

import pytest

from kineta.cli.readers import GROUPS, READERS
from kineta.cli.task_verbs import TARGETS
from kineta.tasks.table import TASKS
from kineta.tasks.task import Option, Task
from kineta.views import FIGURES

VERBS = [task for task in TASKS if task.verb]


def arguments(task: Task) -> list[Option]:
    """Single options that become arguments of the function."""
    return [x for x in task.options if isinstance(x, Option) and x.kind not in TARGETS and not x.calls]


def test_reading_the_table_imports_no_task() -> None:
    code = "import sys, kineta.tasks.table; print(sorted(n for n in sys.modules if n.startswith(('kineta.', 'numpy'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    names = ("kineta.records", "kineta.tasks", "kineta.tasks.options", "kineta.tasks.table", "kineta.tasks.task")
    assert done.stdout == f"{[*names]}\n"


def test_public_names_stand_once_and_are_there() -> None:
    names = Counter(name for task in TASKS for name in task.public.split())
    assert [n for n, count in names.items() if count > 1] == []
    assert all(task.object(name) is not None for task in TASKS for name in task.public.split())


@pytest.mark.parametrize("task", VERBS, ids=lambda task: task.verb)
def test_a_function_takes_the_options_of_its_verb(task: Task) -> None:
    taken = inspect.signature(task.object(task.function or task.verb)).parameters
    elsewhere = {n for x in task.flat if x.calls for n in inspect.signature(task.object(x.calls)).parameters}
    own = {x.name for x in arguments(task)}
    assert own - {*taken} - elsewhere == set()


@pytest.mark.parametrize("task", VERBS, ids=lambda task: task.verb)
def test_options_have_readers_and_name_options_of_their_verb(task: Task) -> None:
    names = {x.name for x in task.flat}
    assert len(names) == len(task.flat)
    for part in task.options:
        assert part.kind in (READERS if isinstance(part, Option) else GROUPS)
    for option in task.flat:
        assert {*option.needs[0], *option.excludes[0]} <= names
        assert all(task.object(n) is not None for n in (option.calls, option.known, task.record) if n)


@pytest.mark.parametrize("task", VERBS, ids=lambda task: task.verb)
def test_results_say_themselves(task: Task) -> None:
    plotless = {x.calls for x in task.flat if "plot" in x.excludes[0]}
    for name in (task.function or task.verb, *(x.calls for x in task.flat)):
        if not name:
            continue
        function = task.object(name)
        record = inspect.get_annotations(function, eval_str=True)["return"]
        kind = task.object(task.record) if task.record and not hasattr(record, "lines") else record
        assert callable(kind.lines)
        assert callable(kind.as_dict)
        if name not in plotless and any(x.kind == "plot" and not x.needs[0] for x in task.flat):
            assert issubclass(kind, tuple(FIGURES))
