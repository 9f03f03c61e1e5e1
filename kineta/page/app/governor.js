// The detail of the picture, stepped down while frames come late, and up again where there is room.

/** What is left of the picture on each level: shadows, whole meshes, points of the screen for one of the window,
 * gloss, and trifles, without which a machine is still told by what is seen of it. */
export const LEVELS = [
  { shadows: true, whole: true, points: 2, gloss: true, trifles: true },
  { shadows: false, whole: true, points: 2, gloss: true, trifles: true },
  { shadows: false, whole: false, points: 1, gloss: true, trifles: true },
  { shadows: false, whole: false, points: 1, gloss: false, trifles: true },
  { shadows: false, whole: false, points: 0.6, gloss: false, trifles: false },
];
/** Frames that are judged together, and milliseconds after which fewer are enough. */
const FRAMES = 20, SOON = 500, FEW = 4;
/** Milliseconds from one frame to the next that are late and in time, as the median of some; of their slow tenth those that are late. */
const LATE = 20, GOOD = 17.5, SLOW = 24;
/** Milliseconds in time after which more detail is tried, at first and at most. */
const TRIED = 3000, LONGEST = 60000;
/** The part of the time of a frame below which all levels together have to bring it, and how unequal equal frames are: a screen that is
 * slow by itself shows equal frames, whatever is in them. */
const SAVED = 0.9, UNEQUAL = 0.1;

/** The level at first where the processor draws. */
export const PLAIN = 3;

export class Governor {
  /** @param {number} level of detail at first */
  constructor(level = 0) {
    Object.assign(this, { level, wait: TRIED, tried: 0, since: 0, frames: [], held: -Infinity, before: 0 });
  }

  /** A frame while the picture moves, and whether the level is another one now. @param {number} now [ms] @param {number} taken since the frame before [ms] */
  frame(now, taken) {
    if (!this.frames.length) this.since = now;
    this.frames.push(taken);
    const enough = this.frames.length >= FRAMES || (this.frames.length >= FEW && now - this.since > SOON);
    if (!enough) return false;
    const sorted = this.frames.sort((a, b) => a - b), at = (part) => sorted[Math.floor(part * (sorted.length - 1))], median = at(0.5);
    this.frames = [];
    if (median > LATE || at(0.9) > SLOW) return this.less(now, median, at(0.9) - at(0.1) < UNEQUAL * median);
    if (median > GOOD || at(0.9) > LATE) this.tried = now;
    if (this.level && now - this.tried > this.wait) return this.more(now);
    return false;
  }

  less(now, median, equal) {
    if (now < this.held) return false;
    if (this.level === 0) this.before = median;
    if (this.level === LEVELS.length - 1) {
      if (!equal || !this.before || median < SAVED * this.before) return false;
      this.held = now + LONGEST;
      return this.set(0, now);
    }
    if (this.raised) this.wait = Math.min(2 * this.wait, LONGEST);
    this.raised = false;
    return this.set(Math.min(this.level + (median > 3 * LATE ? 2 : 1), LEVELS.length - 1), now);
  }

  more(now) {
    this.raised = true;
    return this.set(this.level - 1, now);
  }

  set(level, now) {
    Object.assign(this, { level, tried: now });
    return true;
  }

  /** The picture has stood still: what comes next is no frame after another. */
  rest() {
    this.frames = [];
  }
}
