"""URDF files of any content: beginnings, mutations, long chains, and the robots of a package."""

from __future__ import annotations

import random
import re

import pytest

import kineta as kn
from kineta.model.io import urdf
from tests.model.urdf.peer import ROBOTS
from tests.model.urdf.texts import FINGER, between, joint, quietly, robot
from tests.support import some


def outcome(text: str) -> kn.System | None:
    """The system, or None for what was refused in one sentence; any other exception is a failure."""
    try:
        return quietly(text, floating=len(text) % 2 == 0)
    except kn.KinetaError as error:
        if len(str(error).splitlines()) != 1:
            raise
        return None


def test_every_beginning_of_a_file_is_refused() -> None:
    assert all(outcome(FINGER[:k]) is None for k in range(len(FINGER)))
    assert outcome(FINGER) is not None


AWKWARD = '0|-0|1e308|-1e-320|nan|&lt;|&#0;|<|/>|"||root|floating|planar|pi|ё'.split("|")


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_a_system_or_refused(seed: int) -> None:
    """Tokens exchanged, doubled, dropped, and replaced by others or by awkward ones; what is read can be written."""
    rng = random.Random(seed)
    tokens = re.findall(r"[\w.-]+|\s+|.", FINGER)
    systems = []
    for _ in range(300):
        mutant = tokens.copy()
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(mutant))
            mutant[k : k + rng.randint(0, 2)] = [rng.choice([rng.choice(tokens), rng.choice(AWKWARD)])]
        systems.append(outcome("".join(mutant)))
    read = [s for s in systems if s is not None]
    assert 0 < len(read) < len(systems)
    assert all(kn.loads(kn.dumps(s)) == s for s in read)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(2), 2))
def test_values_of_any_size_are_read_or_refused(seed: int) -> None:
    """Only the values are changed, so that most files pass the parser and meet the mechanics."""
    rng = random.Random(seed)
    values = list(re.finditer(r'(?<==")[^"]*', FINGER))
    others = [v.group() for v in values] + AWKWARD[:4] + ["1e-300", "1e200 0 1e-200", "-1e300"]
    read = 0
    for _ in range(300):
        v = rng.choice(values)
        system = outcome(FINGER[: v.start()] + rng.choice(others) + FINGER[v.end() :])
        if system is not None:
            read += 1
            assert kn.loads(kn.dumps(system)) == system
    assert 0 < read < 300


@pytest.mark.slow
def test_a_long_chain_of_links_and_mimics_is_read() -> None:
    n = 2000
    links = [f'<link name="l{k}"/>' for k in range(n)]
    joints = [
        joint("revolute", f'<mimic joint="j{k - 1}"/>' if k > n - 100 else "", f"j{k}", between(f"l{k}", f"l{k + 1}"))
        for k in range(n - 1)
    ]
    assert urdf.reads(robot(*links, *joints)).nv == n - 100 + 1


#: Files of the package that no reader can make sense of, with the reason.
UNREADABLE = {
    "alex_psyonic_hands.urdf": "joint 'Left_index_q2' mimics 'index_q1', which does not exist. Did you mean 'Left_index_q1'?",
    "ur3.urdf": "expected one root link, found no links at all.",
}


@pytest.mark.slow
def test_all_robots_of_the_package_are_read_and_written() -> None:
    """Read, written in the text language, read again: the same system."""
    files = sorted(ROBOTS.rglob("*.urdf"))
    assert len(files) > 60
    refused = {}
    for file in files:
        try:
            system, notes = urdf.read_with_report(file)
        except kn.ModelError as error:
            refused[file.name] = str(error).partition(": ")[2]
            continue
        assert kn.loads(kn.dumps(system)) == system, file
        assert all(n.location.file == str(file) for n in notes)
    assert refused == UNREADABLE
