"""Texts of exported files, in which words in capitals stand for what a model decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def filled(template: str, words: Mapping[str, str]) -> str:
    """The *template* with texts in place of *words* in capitals; what they bring is not looked at again."""
    text = Path(__file__).with_name(template).read_text(encoding="utf-8")
    return re.sub("|".join(sorted(words, reverse=True)), lambda found: words[found[0]], text)
