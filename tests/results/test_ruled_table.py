"""Numbers in tables of text: what is rounding error, and beside what."""

from __future__ import annotations

import numpy as np

from kineta.results.ruled_table import value_text


def test_values_are_rounding_errors_beside_what_was_before_them() -> None:
    series = {"x'": [1.0, 1.1, 7e13], "y'": [1e-17, 1e-3, 10.0], "x": [1e-17, 1e-2, 1.0], "J": [0.5, np.nan, 1e300]}
    text = value_text({n: np.array(x) for n, x in series.items()}, {"x'": "m/s", "y'": "m/s", "x": "m"})
    starts = {n: text(n, x[0], 0) for n, x in series.items()}
    assert starts == {"x'": "1", "y'": "0", "x": "0", "J": "0.5"}
    assert [text(n, x[-1]) for n, x in series.items()] == ["7e+13", "0", "1", "1e+300"]
