// Names and numbers as they are read, and elements of the page. Names become text or the formulas that Python has made of them.
import { data } from "./data.js";

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** An element. @param {string} tag @param {string} [kind] @param {string} [text] @returns {any} */
export function el(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A name as equations have it, or as a word. @param {string} name */
export function pretty(name) {
  const made = el("span", "nm"), plain = name.replace(/'+$/, ""), label = data.labels[name];
  if (label) made.append(document.importNode(new DOMParser().parseFromString(label, "text/html").body.firstChild, true));
  else made.append(el("span", "word", plain.replace(/_energy$/, "").replaceAll("_", " ") + "′".repeat(name.length - plain.length)));
  return made;
}

/** Numbers beside an axis: all with the digits that tell them apart, and a power of ten where they are large or small. @param {number[]} x @param {number} step */
export function ticks(x, step) {
  const size = x.reduce((a, b) => Math.max(a, Math.abs(b)), 0), power = size >= 1e5 || size < 1e-3 ? Math.floor(Math.log10(size || 1)) : 0, one = step / 10 ** power;
  let places = 0;
  while (places < 12 && Math.abs(one * 10 ** places - Math.round(one * 10 ** places)) > 1e-6 * one * 10 ** places) places++;
  return x.map((a) => (a === 0 ? "0" : `${(a / 10 ** power).toFixed(places)}${power ? `·10${raised(power)}` : ""}`.replace("-", "−")));
}

const RAISED = new Map([..."-0123456789"].map((c, k) => [c, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"[k]]));
const raised = (n) => [...String(n)].map((c) => RAISED.get(c)).join("");

/** A number with so many digits. @param {number} x @param {number} n */
export function digits(x, n = 4) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    const [lead, power] = x.toExponential(n - 2).split("e");
    return `${lead}·10${raised(Number(power))}`.replace("-", "−");
  }
  return x.toFixed(Math.max(0, n - 1 - Math.floor(Math.log10(size || 1)))).replace("-", "−");
}

/** A unit as it is printed. @param {string | undefined} unit */
export const printed = (unit) => (unit && unit !== "?" ? unit.replaceAll(/\^(-?\d+)/g, (_, n) => raised(n)).replaceAll("*", "·") : "");

/** Let the browser save what is in a blob. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = el("a"), url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
