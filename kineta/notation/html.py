"""Self-contained pages of HTML."""

from __future__ import annotations

from html import escape

_STYLE = (
    "body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right}table{margin:1em 0}"
    "div{margin:.2em 0;padding:.3em 0}div.more{padding-left:4em}"
    "math{font-family:'STIX Two Math','Cambria Math','Latin Modern Math',math;font-size:115%}"
    "math[display=block]{width:max-content;margin:0 0 0 2em}p math{math-style:normal}"
)
#: Of a page whose sections are steps: buttons, one step at a time in large letters, and all of them in print.
_STEPS = (
    "body{padding-bottom:3em}nav{position:fixed;right:1em;bottom:1em}nav button{font-size:1.1em;margin-left:.3em}"
    "body.single section{font-size:130%}body.single section:not(.shown){display:none}"
    "@media print{nav{display:none}section,body.single section:not(.shown){display:block;break-inside:avoid}"
    "body.single section{font-size:100%}}"
)
_BUTTONS = (
    "<nav aria-label='steps' hidden='hidden'><button data-go='back' aria-label='step before'>&#8592;</button>"
    "<button data-go='next' aria-label='next step'>&#8594;</button><button data-go='all'>all steps</button> "
    "<output></output></nav>"
)
_SCRIPT = """<script>//<![CDATA[
const steps = [...document.querySelectorAll("section")], body = document.body;
let at = -1;
document.querySelector("nav").hidden = false;
function show(k) {
  at = Math.max(-1, Math.min(k, steps.length - 1));
  body.classList.toggle("single", at >= 0);
  steps.forEach((step, i) => step.classList.toggle("shown", i === at));
  document.querySelector("nav output").textContent = at < 0 ? "" : (at + 1) + " of " + steps.length;
  window.scrollTo(0, 0);
}
const back = () => show(at < 0 ? at : Math.max(at - 1, 0)), next = () => show(at + 1), all = () => show(-1);
const go = {back, next, all};
const keys = {ArrowRight: next, PageDown: next, ArrowLeft: back, PageUp: back, Escape: all};
keys.Home = () => show(0);
keys.End = () => show(steps.length - 1);
document.querySelectorAll("nav button").forEach((b) => b.addEventListener("click", go[b.dataset.go]));
document.addEventListener("keydown", (event) => {
  if (event.key in keys && !event.ctrlKey && !event.altKey && !event.metaKey) {
    event.preventDefault();
    keys[event.key]();
  }
});
//]]></script>"""


def page(title: str, body: str, *, steps: bool = False) -> str:
    """A page with the plain text *title* and a *body* of HTML, whose sections are shown one by one if they are *steps*."""
    style, more = (_STYLE + _STEPS, _BUTTONS + _SCRIPT) if steps else (_STYLE, "")
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{style}</style></head>'
        f"<body><h1>{escape(title)}</h1>{body}{more}</body></html>"
    )
