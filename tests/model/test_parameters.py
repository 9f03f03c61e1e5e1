"""Records of a system by name: parameters, initial values, outputs and named expressions."""

from __future__ import annotations

import kineta as kn


def test_parameters_are_a_sequence_of_records_and_a_mapping_of_values() -> None:
    system = kn.loads("parameters m = 2 kg, l; A | Ry(q), Sz(-l) = m;")
    assert system.parameters.items() == [("m", 2.0), ("l", None)]
    assert system.parameters.values() == [2.0, None]
    assert dict(system.parameters) == {"m": 2.0, "l": None}
    assert system.parameters.get("k", 3.0) == 3.0
    assert system.parameters.get("m") == 2.0
    assert "m" in system.parameters
    assert "k" not in system.parameters
    assert system.parameters[0] in system.parameters
    assert [p.name for p in system.parameters] == ["m", "l"]
