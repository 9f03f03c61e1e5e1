// What a run is, in blocks of its memory: those of zeros are not kept, and those that are as they were in what was kept before are kept once.

/** Numbers of 32 bits in a block. */
const SIZE = 1024;

/** @typedef {(Int32Array | null)[]} Blocks null where all is zero */

/** A copy of a memory, of which much is as it was before. @param {Int32Array} words @param {Blocks} before @returns {Blocks} */
export function kept(words, before) {
  return Array.from({ length: Math.ceil(words.length / SIZE) }, (_, b) => {
    const from = b * SIZE, to = Math.min(from + SIZE, words.length), old = before[b] ?? null;
    let k = from;
    if (old) while (k < to && words[k] === old[k - from]) k++;
    else while (k < to && words[k] === 0) k++;
    return k === to ? old : words.slice(from, to);
  });
}

/** Make a memory what it was. @param {Int32Array} words @param {Blocks} blocks */
export function restored(words, blocks) {
  blocks.forEach((block, b) => {
    if (block) words.set(block, b * SIZE);
    else words.fill(0, b * SIZE, (b + 1) * SIZE);
  });
}
