"""``docs/cli.md`` is true: its commands are run, and what they print is what the page shows.

Numbers are compared as numbers. Times, step counts and rounding errors differ from machine to machine and count as
equal, with the widths of columns that follow from them and the times at which a series of rounding errors is largest; so
do formulas and operation counts, which change with every better pass: of these the names are compared.
``--update`` writes the page anew, from commands that run as processes of their own.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.support import ROOT

PAGE = ROOT / "docs" / "cli.md"
BLOCK = re.compile(r"^```(console|c|xml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
#: A row of a table in which a number is a rounding error; a border of a table.
NOISE = re.compile(r"(.*?│).*\de-1[4-9]\b.*")
BORDER = re.compile(r"━+")
#: What differs from run to run.
VARYING = re.compile(
    r"relative error over condition number \S+|energy balance [^\s\",]+|\d+ steps, \d+ evaluations, \S+ s"
    r'|"(?:steps|rejected|evaluations|energy_balance|residual|seconds)": [^{,}]+|(?:read|derived) in \d+ ms'
)


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(kineta: Command, here: Path, request: pytest.FixtureRequest) -> None:
    update = request.config.getoption("--update")
    page = PAGE.read_text(encoding="utf-8")
    code = 0
    shown: list[tuple[str, str]] = []

    def run(command: str) -> str:
        nonlocal code
        if command == "echo $?":
            return f"{code}\n"
        if command.startswith("kineta ") and "|" not in command and not update:
            done = kineta(*shlex.split(command)[1:])
            code = done.code
            return done.out + done.err
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        finished = subprocess.run(
            command,
            shell=True,
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
            timeout=600,
        )
        code = finished.returncode
        return finished.stdout + finished.stderr

    def block(match: re.Match[str]) -> str:
        language, text = match.groups()
        if language != "console":
            Path({"c": "main.c", "xml": "arm.urdf"}[language]).write_text(text)
            return match[0]
        if re.match(r"\$ cc ", text) and shutil.which("cc") is None:
            return match[0]
        printed = ""
        for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            found = run(command[2:])
            shown.append((command + "\n" + expected, command + "\n" + found))
            printed += f"{command}\n" + "".join(f"{line.rstrip()}\n" for line in found.splitlines())
        return f"```console\n{printed}```"

    anew = BLOCK.sub(block, page)
    if update:
        PAGE.write_text(anew, encoding="utf-8")
        return
    assert len(shown) > 20
    for expected, found in shown:
        _same(expected, found)


def _same(expected: str, found: str) -> None:
    derived = expected.startswith("$ kineta derive")
    a, b = (_plain(text, derived=derived) for text in (expected, found))
    assert NUMBER.sub("#", a) == NUMBER.sub("#", b)
    if not derived:
        pairs = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
        assert all(float(x) == pytest.approx(float(y), rel=1e-5, abs=1e-9) for x, y in pairs), found


def _plain(text: str, *, derived: bool) -> str:
    """*text* without what may vary."""
    lines = [NOISE.sub(r"\1", BORDER.sub("━", VARYING.sub("...", line))) for line in text.splitlines()]
    lines = [" ".join(line.split()) for line in lines]
    if derived:
        lines = [re.sub(r"(=) .*", r"\1", line) for line in lines if not re.match(r'\s*"?z_?\{?\d+', line)]
    return "\n".join(lines)
