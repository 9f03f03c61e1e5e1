"""Whatever the text, the answer is a system that writes itself back or an error with a place."""

from __future__ import annotations

import random

import pytest

import kineta as kn
from tests.model import test_motion_program as test_program
from tests.model.test_contacts import MODEL, STATEMENTS
from tests.model.test_round_trip import RICH
from tests.support import EXAMPLES, examples, slow

TEXTS = {p.stem: p.read_text(encoding="utf-8") for p in sorted(EXAMPLES.glob("*.kin"))}
TEXTS |= {"rich": RICH, "touching": "\n".join((MODEL, *STATEMENTS))}
TEXTS |= {f"program {i}": test_program.MODEL + own for i, own in enumerate(test_program.STATEMENTS)}
#: What is put into texts: characters of the language, others, words, numbers beyond the range of doubles.
PIECES = [
    *"|~=;,()[]+-*/^·.'#_\\\"$%{}:!0123456789qtRSJmxyzЖ°µ\n\t\0\ufeff\u0301",
    *("e", "e999", "1e-400", " m", " kg*m", "''", "..", "^-9", "pi", "t", "ground", "model", "unchecked", "com = "),
]


def outcome(text: str) -> kn.System | None:
    """The system of *text*, or None for one that is refused."""
    try:
        return kn.loads(text, "fuzz.kin")
    except kn.ModelError as error:
        found = error
    assert found.location is not None, text
    assert f"fuzz.kin:{found.location.line}:{found.location.column}" in str(found), text
    return None


def mutated(text: str, rng: random.Random) -> str:
    """*text* with one place changed: a piece put in, put over, taken out, or copied from elsewhere."""
    at = rng.randrange(len(text))
    other = rng.randrange(len(text))
    return rng.choice(
        [
            text[:at] + rng.choice(PIECES) + text[at:],
            text[:at] + rng.choice(PIECES) + text[at + 1 :],
            text[:at] + text[at + rng.randint(1, 4) :],
            text[:at] + text[other : other + rng.randint(1, 12)] + text[at:],
        ]
    )


@pytest.mark.parametrize("pieces", [10, *slow([20])])
@pytest.mark.parametrize("name", TEXTS)
def test_truncated_texts_are_read_or_refused(name: str, pieces: int) -> None:
    text = TEXTS[name]
    for end in range(0, len(text), max(1, len(text) // pieces)):
        outcome(text[:end])


@pytest.mark.parametrize("cases", [10, *slow([20])])
@pytest.mark.parametrize("name", examples(of=2))
def test_mutated_texts_are_read_or_refused(name: str, cases: int) -> None:
    rng = random.Random(f"{name}, {cases} times")
    read = 0
    for _ in range(cases):
        system = outcome(mutated(TEXTS[name], rng))
        if system is not None:
            read += 1
            assert kn.loads(kn.dumps(system)) == system
    assert read or cases < 20  # of few, none may be sound
