"""The command, run in this process as its entry point runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kineta.cli.main import main
from tests.support import EXAMPLES

#: A model with every kind of output and parameter, two coordinates and a force that depends on the time.
CART = EXAMPLES / "cart_pendulum.kin"
HOPPER = EXAMPLES / "hopping_robot.kin"


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON value in one line; NaN and infinity are no JSON."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out, parse_constant=pytest.fail)


Command = Callable[..., Outcome]


@pytest.fixture
def kineta(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """``kineta(*arguments)``: an exception other than the exit of the command fails the test, as a traceback would."""

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr("sys.argv", ["kineta", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        code = left.value.code
        assert isinstance(code, int)
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
