import assert from "node:assert/strict";
import { test } from "node:test";
import { Governor, LEVELS } from "../governor.js";

/** Frames of so many milliseconds on each level, and the levels on which they were drawn. */
function drawn(costs, seconds, governor = new Governor(), now = 0) {
  const levels = [];
  for (const end = now + 1000 * seconds; now < end;) {
    const taken = Math.max(1000 / 60, costs[governor.level]);
    now += taken;
    governor.frame(now, taken);
    levels.push(governor.level);
  }
  return { levels, governor, now };
}

test("frames that come late have less detail, and no less than they need", () => {
  const { levels, governor, now } = drawn([40, 30, 12, 8, 5], 2);
  assert.equal(levels.at(-1), 2);
  const later = drawn([40, 30, 12, 8, 5], 120, governor, now);
  // More is tried again and again, but ever more rarely.
  assert.ok(later.levels.filter((k) => k < 2).length < 0.05 * later.levels.length);
  assert.equal(drawn([12, 9, 7, 5, 3], 20, governor, later.now).levels.at(-1), 2);
});

test("what is in time keeps its detail, and gets it back", () => {
  assert.deepEqual([...new Set(drawn([10, 10, 10, 10, 10], 5).levels)], [0]);
  const { governor, now } = drawn([40, 30, 12, 8, 5], 2);
  assert.equal(drawn([12, 9, 7, 5, 3], 12, governor, now).levels.at(-1), 0);
});

test("where some frames of many come late there is less detail", () => {
  const governor = new Governor();
  for (let k = 1; k <= 40; k++) governor.frame(17 * k, k % 5 ? 16.7 : 33.4);
  assert.ok(governor.level > 0);
});

test("detail that does not help is not left out", () => {
  const { levels } = drawn([50, 50, 50, 50, 50], 30);
  assert.ok(levels.includes(LEVELS.length - 1));
  assert.equal(levels.at(-1), 0);
});

test("a picture that was never drawn with all detail does not get it because frames are equal", () => {
  const { levels } = drawn([600, 500, 200, 100, 90], 30, new Governor(3));
  assert.equal(levels.at(-1), 4);
});
