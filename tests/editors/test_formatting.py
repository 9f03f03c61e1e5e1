"""Texts that are formatted: the same models, comments and lines, with other spaces."""

from __future__ import annotations

import random
import re

import pytest

import kineta as kn
from kineta.editors.formatting import formatted
from tests.support import EXAMPLES, examples

UNEVEN = """

parameters m=1,k = 2 ;


\t# before  ; and , stay
 for i in 1..3 : {
B[i] | Sx(q[i]) ,Sz(1)=m;   # a ,b ;c="d
   spring s[i]=k,
     0.1 on q[i] ;}
for i in 1..2 :
force f[i] on B[i]=(1,0,table(t;cubic;(0,1),
(1,2))) ;



when low : q[1]<=-1 : q[1]=0.5,m=2;
"""
EVEN = """parameters m = 1, k = 2;


# before  ; and , stay
for i in 1..3 : {
    B[i] | Sx(q[i]), Sz(1) = m;   # a ,b ;c="d
    spring s[i] = k,
      0.1 on q[i]; }
for i in 1..2 :
    force f[i] on B[i] = (1, 0, table(t; cubic; (0, 1),
    (1, 2)));


when low : q[1]<=-1 : q[1] = 0.5, m = 2;
"""


def comments(text: str) -> list[str]:
    return [line.rstrip() for line in re.findall(r"#[^\n]*", text)]


def test_a_text_is_formatted() -> None:
    assert formatted(UNEVEN, "m.kin") == EVEN
    assert formatted(EVEN, "m.kin") == EVEN
    assert formatted(UNEVEN.replace("\n", "\r\n"), "m.kin") == EVEN.replace("\n", "\r\n")
    assert formatted("", "m.kin") == ""
    assert formatted("# alone", "m.kin") == "# alone\n"


@pytest.mark.parametrize("name", examples(of=3))
def test_examples_stay_the_same_models(name: str) -> None:
    path = EXAMPLES / f"{name}.kin"
    text = path.read_text(encoding="utf-8")
    drawn = random.Random(name)
    shaken = re.sub(r"^ *(?=\S)", lambda _: " " * drawn.randrange(9), text, flags=re.MULTILINE)
    for own in (text, shaken):
        found = formatted(own, str(path))
        assert formatted(found, str(path)) == found
        assert comments(found) == comments(own)
        assert "".join(found.split()) == "".join(own.split())
    assert kn.loads(found, str(path)) == kn.load(path)


@pytest.mark.parametrize("text", ["B | Sx(q1) = ", "(", 'model "x;', "B | Sx(q1) = 1; }"])
def test_broken_texts_stay(text: str) -> None:
    with pytest.raises(kn.ModelError, match="only a text without errors can be formatted"):
        formatted(text, "m.kin")
