"""Every verb on every example, at states that are singular, undefined or beyond all numbers: nothing raw gets out."""

from __future__ import annotations

import json
import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import kineta as kn
from tests.cli.conftest import Command, Outcome
from tests.support import EXAMPLES, PILES

#: Seconds that a call may take on one core.
LONG = 20
#: Values at which models are asked what they do not foresee.
COORDINATES = ("0", "pi/2", "pi", "1e-9", "-1", "1e5", "1e16", "1e300")
PARAMETERS = ("0", "-1", "1e-9", "1e16", "1e300", "1e-300")

#: The verbs that read a model alone, each with its words and which options of a state it has.
VERBS = {
    "check": ((), ""),
    "derive": ((), ""),
    "derive --matrix": (("--matrix",), ""),
    "eval": ((), "qv"),
    "eval inverse": (("--quantity", "inverse"), "qv"),
    "eval mass": (("--quantity", "mass_matrix"), "qv"),
    "assemble": ((), "qv"),
    "simulate": (("--to", "0.05"), "qv"),
    "equilibrium": ((), "q"),
    "linearize": ((), "qv"),
    "linearize --formulas": (("--formulas",), ""),
    "modes": ((), "qv"),
    "response": ((), "qv"),
    "statics": ((), "q"),
    "kinematics": (("--to", "0.05"), "m"),
    "inverse": (("--to", "0.05"), "m"),
    "kinetostatics": (("--to", "0.05"), "m"),
    "reactions": (("--to", "0.05"), ""),
    "servo": (("--to", "0.05"), "qv"),
    "sensitivity": (("--to", "0.05"), "bqv"),
    "place": ((), "uq"),
    "regressor": ((), ""),
    "integrals": ((), ""),
    "verify": (("--states", "1"), ""),
}
#: Those that follow a motion take as long as it is fast: they are left after so many seconds, and this is no fault.
RUNS = {"simulate": 3, "sensitivity": 3, "servo": 3, "reactions": 10}
#: Those that other tests ask of every example as it is: here they are asked with other parameters alone.
AS_THEY_ARE = {"check", "derive", "verify"}
#: Each model is asked one in so many, the next model the next ones: what answers is the same for all models.
IN_TURN = 3
#: Those that are quick; the others belong to the whole campaign.
QUICK = ("check", "eval", "statics", "equilibrium", "kinematics", "linearize")


class Late(BaseException):
    """Raised where a call takes too long."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise :class:`Late` in what takes longer, on the processor."""

    def late(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def extremes(system: kn.System, verb: str, rng: random.Random) -> list[str]:
    """Options that put *system* where nobody would."""
    words, takes = VERBS[verb]
    options = [*words]

    def some(names: tuple[str, ...], values: tuple[str, ...]) -> str:
        chosen = rng.sample(names, min(len(names), rng.choice((1, 1, len(names)))))
        value = rng.choice(values)
        return ",".join(f"{n}={value}" for n in chosen)

    plain = [n for n in system.q_names if not n.partition(".")[2].startswith("q")]
    if plain and "q" in takes and rng.random() < 0.7:
        options += ["--q", some(tuple(plain), COORDINATES)]
    if system.v_names and "v" in takes and rng.random() < 0.4:
        options += ["--v", some(system.v_names, COORDINATES)]
    if "m" in takes and plain:
        options += ["--motion", ",".join(f"{n}={rng.choice((*COORDINATES, 't', 'sqrt(t-1)', '1/t'))}" for n in plain)]
    if "b" in takes:
        options += ["--by", rng.choice((*system.parameter_names, *system.q_names, "x"))]
    if "u" in takes:
        options += ["--put", f"{rng.choice([b.name for b in system.bodies] or ['x'])}.x={rng.choice(COORDINATES)}"]
    if system.parameters and rng.random() < 0.6:
        options += ["--set", f"{rng.choice(system.parameters).name}={rng.choice(PARAMETERS)}"]
    return options


def faults(outcome: Outcome) -> Iterator[str]:
    """What is wrong with the form of an answer."""
    if outcome.code not in (0, 1, 2):
        yield f"code {outcome.code}"
    if "fault of kineta" in outcome.err or "Traceback" in outcome.err:
        yield outcome.err
    lines = outcome.err.splitlines()
    if any(not line.startswith("kineta: ") for line in lines):
        yield f"foreign lines: {lines}"
    if outcome.code == 1 and len([x for x in lines if not x.startswith("kineta: warning: ")]) != 1:
        yield f"expected one sentence: {lines}"
    if outcome.code == 1 and re.search(r"\barray\(|\bnp\.|<.* object at", outcome.err):
        yield f"Python in {lines}"
    if outcome.code != 1 or outcome.out:
        try:
            data = json.loads(outcome.out)
        except ValueError:
            yield f"no JSON: {outcome.out[:200]!r}"
        else:
            if outcome.code == 0 and not lines and "null" in outcome.out and voids(data):
                yield f"no value without a word: {voids(data)}"


def voids(data: object, path: str = "") -> list[str]:
    """Lists of numbers in *data* that lack one."""
    if isinstance(data, dict):
        return [x for k, v in data.items() for x in voids(v, f"{path}.{k}")]
    if isinstance(data, list):
        own = (
            [path]
            if (None in data and any(isinstance(x, float) for x in data)) or (data and data == [None] * len(data))
            else []
        )
        return own + [x for k, v in enumerate(data) for x in voids(v, f"{path}[{k}]")]
    return []


def campaign(kineta: Command, model: str, verbs: tuple[str, ...], draws: int) -> list[str]:
    """What is wrong with the answers of *verbs* on the example *model*."""
    system, found = kn.load(EXAMPLES / f"{model}.kin"), []
    for verb in verbs:
        rng = random.Random(f"{model} {verb}")
        for _ in range(draws):
            options = extremes(system, verb, rng)
            if verb in AS_THEY_ARE and options == [*VERBS[verb][0]]:
                continue
            call = (verb.partition(" ")[0], str(EXAMPLES / f"{model}.kin"), *options, "--json")
            shown = " ".join([call[0], f"{model}.kin", *options])
            try:
                with limited(RUNS.get(verb, LONG)):
                    found += [f"{shown}: {x}" for x in faults(kineta(*call))]
            except Late:
                if verb in RUNS:
                    continue
                found.append(f"{shown}: more than {LONG} s")
    return found


#: Examples but for piles, and five that take half a minute each.
LONGEST = {"ball_tree", "hexapod", "stewart_platform", "trotting_quadruped", "walking_machine"}
MODELS = sorted({p.stem for p in EXAMPLES.glob("*.kin")} - PILES - LONGEST)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["rolling_coin", "car_axis", "euler_top"])
def test_nothing_raw_gets_out(kineta: Command, model: str) -> None:
    assert not campaign(kineta, model, QUICK, 2)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_nothing_raw_gets_out_of_any_verb(kineta: Command, model: str) -> None:
    assert not campaign(kineta, model, tuple(VERBS)[MODELS.index(model) % IN_TURN :: IN_TURN], 1)
