"""The notebook of the documents shows what its cells give."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest

import kineta as kn
from tests.support import ROOT

PAGE = ROOT / "docs" / "notebook.ipynb"


def outputs(book: dict[str, Any]) -> list[dict[str, Any]]:
    """What each cell shows, without pictures, times and the costs of a run."""
    shown = [cell["outputs"][0]["data"] for cell in book["cells"] if cell["cell_type"] == "code"]
    return [{k: v for k, v in one.items() if k != "text/html"} | {"html": "text/html" in one} for one in shown]


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_give() -> None:
    spec = spec_from_file_location("notebook", PAGE.with_suffix(".py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    stored, made = json.loads(PAGE.read_text(encoding="utf-8")), module.executed()
    assert [c["source"] for c in stored["cells"]] == [c["source"] for c in made["cells"]]
    assert outputs(stored) == outputs(made)


@pytest.mark.slow
def test_records_show_a_picture_and_a_posture_its_page() -> None:
    system = kn.loads("model m;\ncoordinates x;\nB | Sx(x) = 1;\nspring s = 4 on x;\n")
    for record in (system, kn.simulate(system, 0.1), kn.modes(system), kn.equilibrium(system), kn.assemble(system)):
        assert "src='data:image/png;base64," in record._repr_html_(), record
    assert kn.linearize(system)._repr_html_().startswith("<pre>A ")
    for listed in (kn.structure_matrices(system), kn.augmented_bodies(system), kn.base_parameters(system)):
        assert "\n" in listed._repr_html_().removeprefix("<pre>"), listed
    frame = kn.posture(system, to=1.0)._repr_html_()
    assert frame.startswith("<iframe title='m' ")
    assert "<script" not in frame
    assert (kn.sin(kn.symbol("q1")) / kn.symbol("l"))._repr_latex_() == r"$\frac{\sin q_{1}}{l}$"
