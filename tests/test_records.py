"""Records are dataclasses of the standard library in all that can be seen, and write no method before it is looked at."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from typing import Any, ClassVar

import pytest

from kineta import records


def family(dataclass: Any) -> dict[str, Any]:
    """Classes that *dataclass* makes, by their names."""

    @dataclass(frozen=True)
    class Base:
        a: int
        b: tuple[int, ...] = (1, 2)
        kinds: ClassVar[int] = 3

    @dataclass(frozen=True)
    class Derived(Base):
        b: tuple[int, ...] = (4,)
        c: list[int] = field(default_factory=list, compare=False, repr=False)
        d: str = field(default="d", kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "d", self.d.upper())

    @dataclass(frozen=True, slots=True)
    class Slotted:
        x: float
        y: float = field(default=2.0, compare=False)

    @dataclass(slots=True)
    class Changing:
        x: float
        y: float = 0.0
        made: list[int] = field(init=False, default_factory=list)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        left: int
        right: int = 1

        def __repr__(self) -> str:
            return "named"

    @dataclass(frozen=True, eq=False, repr=False)
    class Itself:
        x: int

    @dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 7

    return {name: made for name, made in locals().items() if isinstance(made, type)}


OURS, THEIRS = family(records.dataclass), family(dataclasses.dataclass)
CASES = [
    ("Base", [((1,), {}), ((2, (3,)), {}), ((1,), {"b": (1, 2)})]),
    ("Derived", [((1,), {}), ((1, (2,), [3]), {"d": "e"})]),
    ("Slotted", [((1.0,), {}), ((1.0, 3.0), {}), ((0.0,), {})]),
    ("Changing", [((1.0,), {}), ((1.0, 3.0), {})]),
    ("Named", [((), {"left": 1}), ((), {"left": 1, "right": 2})]),
    ("Itself", [((1,), {}), ((1,), {})]),
    ("Own", [((1,), {}), ((2,), {})]),
]


@pytest.mark.parametrize(("name", "calls"), CASES)
def test_records_are_as_those_of_the_standard_library(name: str, calls: list[Any]) -> None:
    ours, theirs = ([kind[name](*args, **named) for args, named in calls] for kind in (OURS, THEIRS))
    if name != "Itself":
        assert [repr(x) for x in ours] == [repr(x) for x in theirs]
    assert [[a == b for b in ours] for a in ours] == [[a == b for b in theirs] for a in theirs]
    assert [type(x).__hash__ is None for x in ours] == [type(x).__hash__ is None for x in theirs]
    if name in ("Base", "Slotted", "Named", "Own"):
        assert [[hash(a) == hash(b) for b in ours] for a in ours] == [
            [hash(a) == hash(b) for b in theirs] for a in theirs
        ]
    assert str(inspect.signature(OURS[name])) == str(inspect.signature(THEIRS[name]))
    assert OURS[name].__match_args__ == THEIRS[name].__match_args__
    assert [f.name for f in dataclasses.fields(OURS[name])] == [f.name for f in dataclasses.fields(THEIRS[name])]
    assert ("__dict__" in dir(ours[0])) == ("__dict__" in dir(theirs[0]))
    for a, b in zip(ours, theirs, strict=True):
        first = dataclasses.fields(a)[0].name
        assert dataclasses.asdict(a) == dataclasses.asdict(b)
        assert getattr(replace(a, **{first: 5}), first) == getattr(replace(b, **{first: 5}), first) == 5


@pytest.mark.parametrize("name", [n for n in OURS if n != "Changing"])
def test_fields_of_frozen_records_cannot_be_set(name: str) -> None:
    record = OURS[name](**{dataclasses.fields(OURS[name])[0].name: 1})
    first = dataclasses.fields(record)[0].name
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{first}'"):
        setattr(record, first, 2)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{first}'"):
        delattr(record, first)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        record.other = 2


def test_classes_derived_from_frozen_records_have_attributes_of_their_own() -> None:
    class Wider(OURS["Base"]):  # type: ignore[misc]  # a base that is found in a table
        pass

    wider = Wider(1)
    wider.own = 2
    assert wider.own == 2
    with pytest.raises(FrozenInstanceError):
        wider.a = 3


def test_dataclasses_of_the_standard_library_can_be_derived_from_records() -> None:
    @dataclasses.dataclass(frozen=True)
    class Wider(OURS["Base"]):  # type: ignore[misc]  # a base that is found in a table
        e: int = 0

    assert repr(Wider(1, e=2)).endswith("Wider(a=1, b=(1, 2), e=2)")
    with pytest.raises(TypeError, match="non-frozen"):
        dataclasses.dataclass(type("Loose", (OURS["Base"],), {}))


@records.dataclass(frozen=True, slots=True)
class Pair:
    """Two numbers, at the top of a module, where pickle finds it."""

    x: float
    y: float


def test_records_are_copied_and_pickled() -> None:
    pair = Pair(1.0, 2.0)
    assert pair == copy.copy(pair) == copy.deepcopy(pair) == pickle.loads(pickle.dumps(pair))


def test_wrong_arguments_are_told_as_always() -> None:
    with pytest.raises(TypeError, match=r"Pair.__init__\(\) missing 1 required positional argument: 'y'"):
        Pair(1.0)  # type: ignore[call-arg]  # refused by the type checker as well


def test_methods_are_written_at_the_first_look_or_call() -> None:
    fresh = family(records.dataclass)["Base"]
    assert not any(inspect.isfunction(vars(fresh)[n]) for n in ("__init__", "__repr__"))
    assert repr(fresh(1)).endswith("Base(a=1, b=(1, 2))")
    assert all(inspect.isfunction(vars(fresh)[n]) for n in ("__init__", "__repr__"))
    before = [vars(fresh)[n] for n in ("__eq__", "__hash__")]
    assert fresh(1) == fresh(1)
    assert hash(fresh(1)) == hash(fresh(1))
    assert not {*before} & {vars(fresh)[n] for n in ("__eq__", "__hash__")}


@pytest.mark.parametrize("use", [hash, lambda record: record == type(record)(1)])
def test_an_interruption_of_the_writing_of_a_method_is_one(
    use: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(records, "_by_library", interrupt)
    with pytest.raises(KeyboardInterrupt):
        use(family(records.dataclass)["Base"](1))
