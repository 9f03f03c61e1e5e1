import assert from "node:assert/strict";
import { test } from "node:test";
import { kept, restored } from "../blocks.js";

test("a memory comes back to each bit, and what has not changed is kept once", () => {
  const memory = new Float64Array(5000), words = new Int32Array(memory.buffer);
  memory.set([1.5, -0, NaN, 1e-320], 700);
  const first = kept(words, []), one = memory.slice();
  memory[4999] = Math.PI;
  memory[701] = 0; // which differs from minus zero in its sign alone
  const second = kept(words, first), two = memory.slice();
  assert.equal(first.filter((x) => x).length, 1);
  assert.equal(second.filter((x, k) => x && x === first[k]).length, 0);
  memory[4999] = 4;
  const third = kept(words, second);
  assert.equal(third.filter((x, k) => x && x === second[k]).length, 1);
  for (const [blocks, was] of [[first, one], [second, two]]) {
    memory.fill(7);
    restored(words, blocks);
    assert.deepEqual(new BigInt64Array(memory.buffer), new BigInt64Array(was.buffer));
  }
});
