"""Writes ``../math.woff2``, what formulas need of Latin Modern Math: ``python font.py latinmodern-math.otf``.

It asks for the packages fonttools and brotli; Debian has the font in ``fonts-lmodern``. Its licence wants another name for a
part of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from fontTools import subset

from kineta.notation.mathml import CHARACTERS

NAME = "Kineta Math"
#: The numbers that a font has for its name, in the table of names.
_NAMES = {1: NAME, 4: NAME, 6: NAME.replace(" ", "")}


def main(source: str) -> None:
    """Write the part of the font in the file *source*."""
    options = subset.Options(flavor="woff2", layout_features=["kern"], hinting=False, name_IDs=[0, 1, 2, 4, 6, 13])
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, CHARACTERS))
    subsetter.subset(font)
    for record in font["name"].names:
        record.string = _NAMES.get(record.nameID, record.toUnicode())
    cff = font["CFF "].cff
    cff.fontNames = [_NAMES[6]]
    cff.topDictIndex[0].FullName = cff.topDictIndex[0].FamilyName = NAME
    subset.save_font(font, str(Path(__file__).parents[1] / "math.woff2"), options)


if __name__ == "__main__":
    main(*sys.argv[1:])
