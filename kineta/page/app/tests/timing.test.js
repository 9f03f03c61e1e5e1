// How long and how fast pages play.
import assert from "node:assert/strict";
import { test } from "node:test";

const told = { q: [], states: [], v: [], parameters: [], why: "", module: { known: {} }, scene: { palette: [], size: 1, places: { A: 1, B: 2 } } };
globalThis.document = { getElementById: () => ({ textContent: JSON.stringify(told) }) };
const { calm, slow, together } = await import("../timing.js");

/** A page of two bodies, at places by the time. @param {(t: number) => number[]} one @param {(t: number) => number[]} other */
const page = (one, other = () => [0, 0, 0], last = 10) => ({
  span: [0, last], values: {}, track: { last, t: { length: 1000 }, state: (t) => ({ q: [t] }) },
  engine: { seen: (t) => [...Array(21).fill(0), ...one(t), ...Array(9).fill(0), ...other(t)] },
});

test("bodies that fly apart are shown while they are together", () => {
  assert.equal(together(page((t) => [2 * t, 0, 0])), 2);
  assert.equal(together(page((t) => [2 * t, 0, 0], (t) => [2 * t, 1, 0])), 0);
});

test("a motion is slow that goes on all the time, and not far", () => {
  assert.deepEqual([0.01, 0.1, 0].map((v) => slow(page((t) => [v * t, 0, 0]))), [true, false, false]);
  assert.equal(slow(page((t) => [0.01 * Math.sin(t), 0, 0])), false);
});

test("what goes fast beside its middle is played slowly", () => {
  const turning = (w) => (t) => [0.5 * Math.cos(w * t), 0.5 * Math.sin(w * t), 0];
  assert.deepEqual([3, 200].map((w) => calm(page(turning(w)))), [1, 0.1]);
  assert.equal(calm(page((t) => [100 * t, 0, 0], (t) => [100 * t, 1, 0])), 1);
});
