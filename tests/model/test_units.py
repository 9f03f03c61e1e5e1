"""Units: every one against SI, and the dimensions they combine to."""

from __future__ import annotations

import math

import pytest

import kineta as kn
from kineta.model import units

#: Written, value in SI, dimension.
CONVERSIONS = [
    ("12 cm", 0.12, units.LENGTH),
    ("35cm", 0.35, units.LENGTH),
    ("1.5 mm", 1.5e-3, units.LENGTH),
    ("2 km", 2000, units.LENGTH),
    ("3 µm", 3e-6, units.LENGTH),
    ("3 um", 3e-6, units.LENGTH),
    ("30 deg", math.pi / 6, units.ANGLE),
    ("90°", math.pi / 2, units.ANGLE),
    ("2 rev", 4 * math.pi, units.ANGLE),
    ("1.5 mrad", 1.5e-3, units.ANGLE),
    ("60 rpm", 2 * math.pi, (0, 0, -1, 0, 0)),
    ("50 Hz", 50, (0, 0, -1, 0, 0)),
    ("180 deg/s", math.pi, (0, 0, -1, 0, 0)),
    ("36 km/h", 10, (1, 0, -1, 0, 0)),
    ("9.81 m/s^2", 9.81, units.ACCELERATION),
    ("250 g", 0.25, units.MASS),
    ("5 mg", 5e-6, units.MASS),
    ("2 min", 120, units.TIME),
    ("20 ms", 0.02, units.TIME),
    ("4 N", 4, units.FORCE),
    ("4 kg*m/s^2", 4, units.FORCE),
    ("4 kg·m·s^-2", 4, units.FORCE),
    ("1.2 kN", 1200, units.FORCE),
    ("3 N*m", 3, units.COUPLE),
    ("3 J", 3, units.COUPLE),
    ("2 kg*m^2", 2, units.MOMENT_OF_INERTIA),
    ("2e4 g*cm^2", 2e-3, units.MOMENT_OF_INERTIA),
    ("6 N/mm", 6000, (0, 1, -2, 0, 0)),
    ("0.8 N*s/m", 0.8, (0, 1, -1, 0, 0)),
    ("7 N*m/rad", 7, units.COUPLE),
    ("3 kW", 3000, (2, 1, -3, 0, 0)),
    ("2 MPa", 2e6, (-1, 1, -2, 0, 0)),
    ("2 bar", 2e5, (-1, 1, -2, 0, 0)),
    ("3 mbar", 300, (-1, 1, -2, 0, 0)),
    ("3 hPa", 300, (-1, 1, -2, 0, 0)),
    ("4 kPa", 4000, (-1, 1, -2, 0, 0)),
    ("5 dm", 0.5, units.LENGTH),
    ("2 Mg", 2000, units.MASS),
    ("3 MN", 3e6, units.FORCE),
    ("3 mN", 3e-3, units.FORCE),
    ("3 kJ", 3000, units.COUPLE),
    ("3 W", 3, (2, 1, -3, 0, 0)),
    ("2 h", 7200, units.TIME),
    ("6 L/min", 1e-4, (3, 0, -1, 0, 0)),
    ("50 mL", 5e-5, (3, 0, 0, 0, 0)),
    ("2 kWh", 7.2e6, units.ENERGY),
    ("3 Ah", 10800, (0, 0, 1, 1, 0)),
    ("3 mK", 3e-3, (0, 0, 0, 0, 1)),
    ("20 degC", 20, (0, 0, 0, 0, 1)),
    ("5 W/m^2/°C", 5, (0, 1, -3, 0, -1)),
    ("12 V", 12, (2, 1, -3, -1, 0)),
    ("1.5e-3", 1.5e-3, None),
    (".5", 0.5, None),
    ("-3. cm", -0.03, units.LENGTH),
]


@pytest.mark.parametrize(("text", "value", "dimension"), CONVERSIONS)
def test_a_number_with_a_unit_becomes_si(text: str, value: float, dimension: units.Dimension | None) -> None:
    found, of = units.quantity(text)
    assert found == pytest.approx(value, rel=4e-16)
    assert of == dimension


@pytest.mark.parametrize("text", [t for t, _, _ in CONVERSIONS])
def test_the_language_reads_the_same_numbers(text: str) -> None:
    (parameter,) = kn.loads(f"parameters a = {text}; A | Rz(q1) = 1;").parameters
    assert parameter.value == units.quantity(text)[0]


def test_decimal_prefixes_give_the_nearest_double() -> None:
    assert [units.quantity(f"{n} cm")[0] for n in range(100)] == [n / 100 for n in range(100)]


@pytest.mark.parametrize(
    ("expression", "dimension"),
    [
        ("2 kg*3 m^2", units.MOMENT_OF_INERTIA),
        ("a*b", units.MOMENT_OF_INERTIA),
        ("a*b^2/b", units.MOMENT_OF_INERTIA),
        ("a/c^2*b", units.COUPLE),
        ("(sqrt(b))^2*a", units.MOMENT_OF_INERTIA),
        ("max(b, 2)", (2, 0, 0, 0, 0)),
        ("-abs(b) + b", (2, 0, 0, 0, 0)),
        ("b + 1", (2, 0, 0, 0, 0)),
    ],
)
def test_dimensions_combine(expression: str, dimension: units.Dimension) -> None:
    m, kg, s, A, K = dimension
    with pytest.raises(kn.ModelError) as raised:
        kn.loads(f"parameters a = 2 kg, b = 3 m^2, c = 4 s, d = {expression}; B | Rz(q1) = d/c;")
    assert str(raised.value).endswith(f"must be a mass [kg], found {units.name((m, kg, s - 1, A, K))}.")


@pytest.mark.parametrize(
    ("dimension", "name"),
    [
        (units.NUMBER, "an angle or a number without dimension"),
        (units.FORCE, "a force [kg*m/s^2]"),
        ((0, 0, -1, 0, 0), "a rate or an angular velocity [1/s]"),
        ((0.5, 0, 0, 0, 0), "a quantity [m^0.5]"),
        ((2, 1, -3, -1, 0), "a voltage [kg*m^2/s^3/A]"),
        ((2, 1, -2, -2, 0), "an inductance [kg*m^2/s^2/A^2]"),
    ],
)
def test_dimensions_have_names(dimension: units.Dimension, name: str) -> None:
    assert units.name(dimension) == name


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Nm", " Did you mean 'N*m'?"),
        ("kNmm", " Did you mean 'kN*mm'?"),
        ("Ns/m", " Did you mean 'N*s'?"),
        ("kmh", " Did you mean 'km/h'?"),
        ("Kg", " Did you mean 'kg'?"),
        ("sec", " Did you mean 's'?"),
        ("Ohm", " Did you mean 'ohm'?"),
        ("farad", " Did you mean 'F'?"),
        ("degrees", " Did you mean 'deg'?"),
        ("t", " The name t stands for the time; a tonne is written Mg."),
        ("inch", " An inch is 25.4 mm."),
        ("l", " A litre is written L."),
        ("degF", " A difference of one degree Fahrenheit is 5/9 K."),
        ("kelvins", " Did you mean 'K'?"),
        ("tonnes", " Did you mean 'Mg'?"),
    ],
)
def test_an_unknown_unit_is_answered_with_the_one_meant(text: str, advice: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        units.quantity(f"3 {text}")
    assert str(raised.value) == f"Expected a unit, found '{text.split('/')[0]}'.{advice}"


@pytest.mark.parametrize("text", ["", "m", "1,5", "1 2", "0x10", "nan", "inf", "one", "1 m +"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(kn.ModelError) as raised:
        units.quantity(text)
    assert str(raised.value) == f"Expected a number, perhaps with a unit, found '{text}'."


def test_electrical_units_go_together() -> None:
    for one, other in (
        ("1 ohm", "1 V/A"),
        ("2 mH", "2e-3 ohm*s"),
        ("3 uF", "3e-6 C/V"),
        ("4 Wb", "4 V*s"),
        ("1 T", "1 Wb/m^2"),
    ):
        (a, dimension), (b, same) = map(units.quantity, (one, other))
        assert a == pytest.approx(b, rel=1e-15)
        assert dimension == same
    assert [units.symbol(units.unit(u).dimension) for u in ("kohm", "mH", "pF", "A*s", "N*m/A")][:4] == [
        "ohm",
        "H",
        "F",
        "C",
    ]


def test_a_litre_behind_a_product_is_taken_for_a_length() -> None:
    with pytest.raises(
        kn.ModelError, match=r"Expected a unit, found 'L'. Put spaces around the operator where a product is meant."
    ):
        units.quantity("3 N*L")
