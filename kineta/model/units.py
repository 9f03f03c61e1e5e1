"""Units on numbers: factors to SI and dimensions. Angles are numbers in radians."""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from functools import lru_cache

from kineta import tolerances
from kineta.errors import ModelError, did_you_mean
from kineta.records import dataclass

#: Exponents of metre, kilogram, second, ampere, kelvin.
Dimension = tuple[float, float, float, float, float]

NUMBER: Dimension = (0, 0, 0, 0, 0)
LENGTH: Dimension = (1, 0, 0, 0, 0)
MASS: Dimension = (0, 1, 0, 0, 0)
TIME: Dimension = (0, 0, 1, 0, 0)
MOMENT_OF_INERTIA: Dimension = (2, 1, 0, 0, 0)
ACCELERATION: Dimension = (1, 0, -2, 0, 0)
FORCE: Dimension = (1, 1, -2, 0, 0)
COUPLE: Dimension = (2, 1, -2, 0, 0)
ENERGY = COUPLE
POWER: Dimension = (2, 1, -3, 0, 0)
_TORSIONAL_DAMPING: Dimension = (2, 1, -1, 0, 0)
STIFFNESS: Dimension = (0, 1, -2, 0, 0)
DAMPING: Dimension = (0, 1, -1, 0, 0)
VELOCITY: Dimension = (1, 0, -1, 0, 0)
RATE: Dimension = (0, 0, -1, 0, 0)
ANGLE = NUMBER

_KNOWN = {
    NUMBER: "an angle or a number without dimension",
    LENGTH: "a length",
    MASS: "a mass",
    TIME: "a time",
    MOMENT_OF_INERTIA: "a moment of inertia",
    ACCELERATION: "an acceleration",
    FORCE: "a force",
    COUPLE: "a couple or an energy",
    POWER: "a power",
    VELOCITY: "a velocity",
    RATE: "a rate or an angular velocity",
    STIFFNESS: "a stiffness",
    DAMPING: "a damping",
    (2, 1, -1, 0, 0): "a torsional damping",
    (-1, 1, -2, 0, 0): "a pressure",
    (3, 0, 0, 0, 0): "a volume",
    (0, 0, 0, 1, 0): "a current",
    (0, 0, 1, 1, 0): "a charge",
    (2, 1, -3, -1, 0): "a voltage",
    (2, 1, -3, -2, 0): "a resistance",
    (2, 1, -2, -2, 0): "an inductance",
    (-2, -1, 4, 2, 0): "a capacitance",
    (0, 0, 0, 0, 1): "a temperature",
    (2, 1, -2, 0, -1): "a heat capacity",
    (2, 1, -3, 0, -1): "a thermal conductance",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A factor to SI and a dimension."""

    factor: float
    dimension: Dimension


def _table() -> dict[str, Unit]:
    units = {
        "m": Unit(1, LENGTH),
        "g": Unit(1e-3, MASS),
        "s": Unit(1, TIME),
        "A": Unit(1, (0, 0, 0, 1, 0)),
        "N": Unit(1, FORCE),
        "J": Unit(1, COUPLE),
        "W": Unit(1, (2, 1, -3, 0, 0)),
        "Pa": Unit(1, (-1, 1, -2, 0, 0)),
        "V": Unit(1, (2, 1, -3, -1, 0)),
        "C": Unit(1, (0, 0, 1, 1, 0)),
        "T": Unit(1, (0, 1, -2, -1, 0)),
        "ohm": Unit(1, (2, 1, -3, -2, 0)),
        "H": Unit(1, (2, 1, -2, -2, 0)),
        "F": Unit(1, (-2, -1, 4, 2, 0)),
        "Wb": Unit(1, (2, 1, -2, -1, 0)),
        "Hz": Unit(1, (0, 0, -1, 0, 0)),
        "rad": Unit(1, NUMBER),
    }
    prefixes = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3, "M": 1e6, "G": 1e9}
    table = {p + n: Unit(f * u.factor, u.dimension) for n, u in units.items() for p, f in prefixes.items()}
    return (
        table
        | units
        | {
            "kg": Unit(1.0, MASS),
            "mg": Unit(1e-6, MASS),
            "ug": Unit(1e-9, MASS),
            "dm": Unit(0.1, LENGTH),
            "pF": Unit(1e-12, (-2, -1, 4, 2, 0)),
            "bar": Unit(1e5, (-1, 1, -2, 0, 0)),
            "mbar": Unit(100, (-1, 1, -2, 0, 0)),
            "hPa": Unit(100, (-1, 1, -2, 0, 0)),
            "L": Unit(1e-3, (3, 0, 0, 0, 0)),
            "mL": Unit(1e-6, (3, 0, 0, 0, 0)),
            "Wh": Unit(3600, ENERGY),
            "kWh": Unit(3.6e6, ENERGY),
            "Ah": Unit(3600, (0, 0, 1, 1, 0)),
            "min": Unit(60, TIME),
            "h": Unit(3600, TIME),
            "%": Unit(0.01, NUMBER),
            "deg": Unit(math.pi / 180, NUMBER),
            "°": Unit(math.pi / 180, NUMBER),
            "rev": Unit(2 * math.pi, NUMBER),
            "rpm": Unit(2 * math.pi / 60, (0, 0, -1, 0, 0)),
            "K": Unit(1, (0, 0, 0, 0, 1)),
            "mK": Unit(1e-3, (0, 0, 0, 0, 1)),
            "degC": Unit(1, (0, 0, 0, 0, 1)),
            "°C": Unit(1, (0, 0, 0, 0, 1)),
        }
    )


UNITS = _table()

#: Letters of units within brackets of a pattern; ``%`` stands first only. A micro sign and a Greek mu look alike.
LETTERS = "A-Za-zµμ°"
#: The power of a unit, perhaps of a root.
POWER_PATTERN = r"\^-?\d+(?:\.5)?"
#: A unit as it is written behind a number: no spaces inside.
PATTERN = rf"(?:(?<=[ \t])1/)?[{LETTERS}%]+(?:{POWER_PATTERN})?(?:[*/·][{LETTERS}]+(?:{POWER_PATTERN})?)*"
_FACTOR = re.compile(rf"([*/·]?)([{LETTERS}%]+)({POWER_PATTERN})?")


@lru_cache(maxsize=256)
def unit(text: str) -> Unit:
    """The unit written as *text*, such as ``kg*m^2`` or ``N*s/m``. Raises :class:`ModelError` for an unknown unit."""
    factor, dimension = 1.0, list(NUMBER)
    for operator, name, exponent in _FACTOR.findall(text):
        known = UNITS.get(name)
        if known is None or (name == "L" and operator in ("*", "·")):  # by which the name of a length is meant
            raise ModelError(f"Expected a unit, found '{name}'.{_advice(name, behind=operator)}")
        if len(exponent.lstrip("^-").removesuffix(".5")) > 1:
            raise ModelError(f"Expected a unit, found '{name}' with an exponent of more than one digit.")
        power = float(exponent[1:] or 1) * (-1 if operator == "/" else 1)
        factor *= known.factor**power
        dimension = [d + power * e for d, e in zip(dimension, known.dimension, strict=True)]
    if not tolerances.LEAST_DIVISOR < factor < 1 / tolerances.LEAST_DIVISOR:
        raise ModelError(f"Expected a unit, found '{_short(text)}', which is out of the range of numbers.")
    a, b, c, d, e = dimension
    return Unit(factor, (a, b, c, d, e))


#: Spellings of units in other programs.
_ELSEWHERE = {"Kg": "kg", "kmh": "km/h", "kph": "km/h", "sec": "s", "hr": "h"}

#: What stands for units that are none here.
_OTHERWISE = {
    "l": "A litre is written L",
    "in": "An inch is 25.4 mm",
    "mi": "A mile is 1609.344 m",
    "mph": "A mile an hour is 0.44704 m/s",
    "oz": "An ounce is 0.028349523125 kg",
    "hp": "A horsepower is 745.69987158227022 W",
    "cal": "A calorie is 4.184 J",
    "S": "A siemens is written ohm^-1",
    "day": "A day is 24 h",
    "ft": "A foot is 0.3048 m",
    "inch": "An inch is 25.4 mm",
    "lb": "A pound is 0.45359237 kg",
    "lbf": "A pound of force is 4.4482216152605 N",
    "kgf": "A kilogram of force is 9.80665 N",
    "psi": "It is 6894.757293168 Pa",
    "atm": "An atmosphere is 101325 Pa",
    "mmHg": "It is 133.322387415 Pa",
    "knot": "A knot is 1.852 km/h",
    "degF": "A difference of one degree Fahrenheit is 5/9 K",
}

#: Words that are written for units.
_SPELLED = dict(
    pair.split("=")
    for pair in (
        "metre=m meter=m millimetre=mm millimeter=mm centimetre=cm centimeter=cm kilometre=km kilometer=km gram=g "
        "kilogram=kg second=s minute=min hour=h newton=N joule=J watt=W pascal=Pa volt=V ampere=A coulomb=C tesla=T "
        "ohm=ohm henry=H farad=F weber=Wb "
        "kelvin=K celsius=degC hertz=Hz radian=rad degree=deg revolution=rev turn=rev litre=L liter=L tonne=Mg"
    ).split()
)


def unit_of_word(word: str) -> str:
    """Symbol of the unit named by *word* or a similar word: ``N`` for ``newtons``; ``''`` if unknown."""
    near = get_close_matches(word.casefold(), _SPELLED, n=1, cutoff=0.75) if len(word) > 3 else ()
    return _SPELLED[near[0]] if near else ""


def advice_on_name(name: str) -> str:
    """Advice on an unknown *name* that is the one of a unit, or a word for it; "" for others."""
    if name in UNITS and (len(name) > 1 or name == "s"):
        return f" A unit stands behind its number, as in 5 {name} and 5 1/{name}."
    if (power := re.fullmatch(rf"([{LETTERS}]+)(\d)", name)) and power[1] in UNITS and power[2] in "23456":
        return f" A power of a unit is written {power[1]}^{power[2]}."
    symbol = unit_of_word(name)
    return f" The unit is written {symbol}, behind a number." if symbol else ""


def _advice(name: str, behind: str) -> str:
    """Advice on the unknown unit *name* *behind* an operator or ``''``."""
    if name == "t":
        return " The name t stands for the time; a tonne is written Mg." + _spaces(behind)
    if name in ("l", "L") and behind:
        return _spaces(behind)
    if name in _OTHERWISE:
        return f" {_OTHERWISE[name]}."
    if name in _ELSEWHERE:
        return f" Did you mean '{_ELSEWHERE[name]}'?"
    if symbol := unit_of_word(name):
        return f" Did you mean '{symbol}'?"
    for i in range(1, len(name)):
        a, b = UNITS.get(name[:i]), UNITS.get(name[i:])
        if a is not None and b is not None and a.dimension != b.dimension:
            return f" Did you mean '{name[:i]}*{name[i:]}'?"
    return did_you_mean(name, (u for u in UNITS if u[0].casefold() == name[0].casefold())) + _spaces(behind)


def _spaces(behind: str) -> str:
    return " Put spaces around the operator where a product is meant." if behind else ""


def times(a: Dimension, b: Dimension, power: float = 1) -> Dimension:
    """Dimension of a product *a* b^power, from the dimensions of its factors."""
    v, w, x, y, z = (i + power * j for i, j in zip(a, b, strict=True))
    return v, w, x, y, z


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


def is_named(dimension: Dimension) -> bool:
    """Whether quantities of this *dimension* have a name, as forces and velocities."""
    return dimension in _KNOWN


def name(dimension: Dimension) -> str:
    """*dimension* in words, with its unit in SI."""
    shown = _base_units(dimension)
    words = _KNOWN.get(dimension, "a quantity")
    return f"{words} [{shown}]" if shown else words


def symbol(dimension: Dimension) -> str:
    """The unit in SI of *dimension* as engineers write it, ``N*m`` and not ``kg*m^2/s^2``; ``''`` for a number."""
    return _DERIVED.get(dimension) or _base_units(dimension)


def written(dimension: Dimension) -> str | None:
    """The unit in SI of *dimension* as it stands behind a number, ``s^-1`` and not ``1/s``; None where none can."""
    if any(2 * e != round(2 * e) or abs(e) >= 10 for e in dimension):
        return None
    m = dimension[0]
    force: Dimension = (m, 1, -2, 0, 0)
    if dimension not in _DERIVED and dimension == force:  # laws of force, as in N/m^1.5
        return f"N*m{_raised(m - 1)}" if m > 1 else f"N/m{_raised(1 - m)}"
    if dimension == _TORSIONAL_DAMPING:
        return "N*m*s"
    inverse, *rest = symbol(dimension).removeprefix("1/").split("/")
    if not symbol(dimension).startswith("1/"):
        return symbol(dimension)
    name, _, power = inverse.partition("^")
    return "/".join((f"{name}^-{power or 1}", *rest))


def _raised(power: float) -> str:
    return "" if power == 1 else f"^{power:g}"


#: Other units in which numbers are written that are short there and long in SI, by dimension.
_SHORTER = {
    NUMBER: ("deg", "rev"),
    RATE: ("rpm", "deg/s", "rev/s"),
    (0, 0, -2, 0, 0): ("deg/s^2", "rev/s^2"),
    VELOCITY: ("km/h",),
    COUPLE: ("N*m/deg", "N*m/rev"),
    (2, 1, -1, 0, 0): ("N*m*s/deg", "N*m/rpm"),
    (2, 1, -3, -1, 0): ("V/rpm",),
}


def shorter(value: float, dimension: Dimension) -> str:
    """The number *value* [SI] of a *dimension* with a unit such as ``deg`` or ``rpm``, where it is short there, long in SI, and
    the same to the bit; "" for others.
    """
    for other in _SHORTER.get(dimension, ()):
        text = f"{value / unit(other).factor:.9g} {other}"
        if len(text) + 3 < len(repr(value)) and quantity(text)[0] == value:
            return text
    return ""


_DERIVED = {
    FORCE: "N",
    COUPLE: "N*m",
    POWER: "W",
    STIFFNESS: "N/m",
    DAMPING: "N*s/m",
    (-1, 1, -2, 0, 0): "Pa",
    (2, 1, -3, -1, 0): "V",
    (0, 0, 1, 1, 0): "C",
    (2, 1, -3, -2, 0): "ohm",
    (2, 1, -2, -2, 0): "H",
    (-2, -1, 4, 2, 0): "F",
    (2, 1, -2, 0, -1): "J/K",
    (2, 1, -3, 0, -1): "W/K",
}


def _base_units(dimension: Dimension) -> str:
    m, kg, s, A, K = dimension
    symbols = (("kg", kg), ("m", m), ("s", s), ("A", A), ("K", K))
    above = "*".join(n if e == 1 else f"{n}^{e:g}" for n, e in symbols if e > 0)
    below = "".join(f"/{n}" if e == -1 else f"/{n}^{-e:g}" for n, e in symbols if e < 0)
    return (above or "1") + below if above or below else ""


def quantity(text: str) -> tuple[float, Dimension | None]:
    """A number with or without a unit, as in ``30 deg``: its value in SI, and its dimension (None without a unit).

    Raises :class:`ModelError` where *text* is no number, or its unit is not known.
    """
    match = re.fullmatch(rf"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*({PATTERN})?\s*", text)
    if match is None:
        raise ModelError(f"Expected a number, perhaps with a unit, found '{_short(text)}'.")
    number, written = float(match[1]), match[2]
    _check_range(number, match[1], text)
    if written is None:
        return number, None
    first = re.split(r"[\^*/·]", written.removeprefix("1/"))[0]
    if first not in UNITS and match.end(1) == match.start(2):
        raise ModelError(
            f"Expected a unit, found '{first}'.{_advice(first, behind='')} A product is written {match[1]}*{first}."
        )
    known = unit(written)
    # A factor such as 1/100 is divided by 100: 35 cm is then the same double as 0.35.
    whole = round(1 / known.factor) if known.factor < 1 else 0
    exact = whole and abs(whole * known.factor - 1) < 4 * tolerances.EPS
    value = number / whole if exact else number * known.factor
    _check_range(value, match[1], text)
    return value, None if written == "%" else known.dimension


def _check_range(value: float, digits: str, text: str) -> None:
    """Raise :class:`ModelError` where the *value* of a *text* with these *digits* is beyond what a number may be, or below it."""
    if not math.isfinite(value):
        raise ModelError(f"Expected a finite number, found '{_short(text)}'.")
    if value == 0 and re.search("[1-9]", re.split("[eE]", digits)[0]):
        raise ModelError(f"Expected zero or a number that is not smaller than 5e-324, found '{_short(text)}'.")
