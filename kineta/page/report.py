"""A run as a report: one page of HTML to be read and printed, with all that is known of it."""

from __future__ import annotations

import base64
import io
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from kineta.equations.equations import equations_of
from kineta.errors import ArgumentError, KinetaError, KinetaWarning, readable
from kineta.model import units
from kineta.model.system import System
from kineta.page.equations import READABLE, equations_html, math_style, model_html
from kineta.page.recorded_run import told
from kineta.results.result import Result
from kineta.tasks.verification.verify import verify

#: Rows of a table of events at most, and random states of the certificate.
ROWS, STATES = 200, 5
#: The style of the page.
_STYLE = Path(__file__).with_suffix(".css")


def report_page(run: Result) -> str:
    """The report of a run of one motion of a known model: pictures, what became of it, series, events, parameters, the model, its
    equations, and the certificate of them.

    Raises :class:`ArgumentError` for a run of several cases, and for one from a file.
    """
    if run.system is None or run.cases is not None or not len(run.t):
        raise ArgumentError(f"Run of '{run.model}': expected one motion of a known model to report on.")
    system, good = run.system, "" if run.success else " class='bad'"
    parts = [
        f"<h1>{escape(run.model)}</h1><p class='note'>{escape(system.size)}</p><p{good}>{escape(run.message)}.</p>",
        "".join(f"<p class='note'>{escape(note)}</p>" for note in run.notes),
        f"<div class='pictures'>{_picture(run, float(run.t[0]))}{_picture(run, float(run.t[-1]))}</div>",
        f"<h2>The run</h2>{_table((), _accounts(run))}",
        f"<h2>Series</h2><img class='plots' alt='Series over time' src='{_plots(run)}'>",
        f"<h2>Events</h2>{_events(run)}",
        f"<h2>Values</h2><div class='columns'>{_values(run)}</div>",
        f"<h2>The model</h2>{model_html(system)}",
        f"<h2>Equations</h2>{equations_html(equations_of(system))}",
        f"<h2>Certificate</h2>{_certificate(system)}",
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(run.model)}: report</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        'font-src data:">'
        f"<style>{math_style()}{_STYLE.read_text(encoding='utf-8')}</style></head><body>{''.join(parts)}</body></html>"
    )


def _accounts(run: Result) -> Iterable[tuple[str, str]]:
    yield "time", f"{run.t[0]:g} to {run.t[-1]:g} s, {len(run.t)} samples"
    yield (
        "method",
        f"{run.method}, {run.steps} steps, {run.rejected} rejected, {run.nfev} evaluations, {run.seconds:.3g} s",
    )
    yield "energy balance", f"{run.energy_balance:.2g} of the energy that was exchanged"
    if run.system is not None and run.system.constraints:
        yield "constraints", f"kept to {run.residual:.2g}"


def _values(run: Result) -> str:
    """Parameters, and first and last values of coordinates, speeds and rates of states."""
    assert run.system is not None
    unit = {p.name: "" if p.dimension is None else units.symbol(p.dimension) for p in run.system.parameters}
    given = [(n, f"{float(x):.6g}", unit.get(n, "")) for n, x in run.parameters.items()]
    names = (*run.q_names, *run.v_names, *(f"{n}'" for n in run.system.state_names))
    states = [(n, f"{run[n][0]:.6g}", f"{run[n][-1]:.6g}", run.units.get(n, "")) for n in names]
    parameters = f"<h3>Parameters</h3>{_table(('', 'value', ''), given)}" if given else ""
    return f"{parameters}<h3>State</h3>{_table(('', 'start', 'end', ''), states)}"


def _events(run: Result) -> str:
    happened = [(f"{t:.6g} s", what) for t, what in told(run)]
    rest = f"<p class='note'>and {len(happened) - ROWS} more</p>" * (len(happened) > ROWS)
    found = f"<div class='columns'>{_table((), happened[:ROWS])}</div>{rest}" if happened else "<p>None.</p>"
    if not run.impacts:
        return found
    lost, n = sum(x.energy_lost for x in run.impacts), len(run.impacts)
    counted = "1 impact takes" if n == 1 else f"{n} impacts take"
    return f"{found}<p>{counted} {lost:.4g} J.</p>"


def _certificate(system: System) -> str:
    if system.nv > READABLE:
        return f"<p>'kineta verify' compares the {system.nv} equations with each other; it takes too long here.</p>"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", KinetaWarning)
        try:
            found: str = verify(system, states=STATES, digits=0)._repr_html_()
        except KinetaError as error:
            found = f"<p>{escape(str(error))}</p>"
    return "".join(f"<p>{escape(str(x.message))}</p>" for x in said) + found


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    heads = f"<thead><tr>{''.join(f'<th>{escape(x)}</th>' for x in head)}</tr></thead>" if head else ""
    cells = ("".join(f"<td>{escape(readable(x))}</td>" for x in row) for row in rows)
    return f"<table>{heads}<tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>"


def _picture(run: Result, t: float) -> str:
    figure: Any = run.picture(t).figure
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=140)
    import_module("matplotlib.pyplot").close(figure)
    source = f"data:image/png;base64,{base64.b64encode(drawn.getvalue()).decode()}"
    return f"<figure><img alt='The machine' src='{source}'><figcaption>t = {t:g} s</figcaption></figure>"


def _plots(run: Result) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series.svg"
        import_module("kineta.views").save(run, path)
        return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"
