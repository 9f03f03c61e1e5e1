"""Self-contained pages of HTML."""

from __future__ import annotations

from html import escape

_STYLE = (
    "body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right}table{margin:1em 0}"
    "div{overflow:auto hidden;margin:.2em 0;padding:.3em 0}"
    "math{font-family:'STIX Two Math','Cambria Math','Latin Modern Math',math;font-size:115%}"
    "p math{math-style:normal}"
)


def page(title: str, body: str) -> str:
    """A page with the plain text *title* and a *body* of HTML."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{body}</body></html>"
    )
