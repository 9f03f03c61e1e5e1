"""Numbers of equations that are read together have one style."""

from __future__ import annotations

import pytest

import kineta as kn

MASSES = "parameters m; coordinates x, y; A | Sx(x) = {}*m; B | Sy(y) = {}*m; "


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (MASSES.format("0.4", "0.137"), ["tau[x'] = 0.4*m*x''", "tau[y'] = 0.137*m*y''"]),
        (MASSES.format("0.5", "0.137"), ["tau[x'] = m*x''/2", "tau[y'] = 0.137*m*y''"]),
        (MASSES.format("0.35", "1/3"), ["tau[x'] = 7*m*x''/20", "tau[y'] = m*y''/3"]),
        (MASSES.format("0.4", "1/3"), ["tau[x'] = 2*m*x''/5", "tau[y'] = m*y''/3"]),
        (
            MASSES.format("1/3", "1") + "gravity (0, -9.81, 0);",
            ["tau[x'] = m*x''/3", "tau[y'] = m*y'' + 9.81*m"],
        ),
        (
            MASSES.format("0.25", "1") + "gravity (0, -9.81, 0);",
            ["tau[x'] = 0.25*m*x''", "tau[y'] = m*y'' + 9.81*m"],
        ),
        (
            MASSES.format("1", "3/4") + "damper a = 0.2 on x; damper b = 0.25 on y;",
            ["tau[x'] = m*x'' + 0.2*x'", "tau[y'] = 3*m*y''/4 + 0.25*y'"],
        ),
        ("coordinates x, y; parameters m; A | Sx(x) = 1.5; B | Sy(y) = m;", ["tau[x'] = 3*x''/2", "tau[y'] = m*y''"]),
    ],
)
def test_lines_read_together_have_numbers_in_one_style(text: str, shown: list[str]) -> None:
    assert kn.derive(kn.loads(text)).text("inverse").splitlines() == shown
