// Turns the rows of a document into records.
import './types.js';

/** How many numbers a row has: see page/rows.go. */
const STRIDE = 13;

/**
 * The records of one log. Seq, at and cause are differences. T is not known yet: it is a number from the start, and none that V8 would
 * keep in another way than the times that follow.
 * @param {import('./types.js').Rows} log
 * @param {string[]} strings
 * @returns {import('./types.js').Rec[]}
 */
export function decodeRows(log, strings) {
  /** @type {import('./types.js').Rec[]} */
  const all = [];
  /** @type {string[][]} */
  const lists = [];
  /** @param {number} n */
  const list = n => lists[n] ??= strings[n] === '' ? [] : strings[n].split('\n');
  const r = log.rows;
  let seq = 0, at = 0;
  for (let i = 0; i + STRIDE <= r.length; i += STRIDE) {
    seq += r[i];
    at += r[i + 1];
    all.push({
      log: log.name, who: log.name, seq, at, t: NaN, i: 0,
      machine: strings[r[i + 2]], kind: strings[r[i + 3]], from: strings[r[i + 4]], row: strings[r[i + 5]], to: strings[r[i + 6]],
      cause: r[i + 7] ? seq - r[i + 7] : 0, tried: list(r[i + 8]), effects: list(r[i + 9]), facts: strings[r[i + 10]],
      zxid: r[i + 11], beat: (r[i + 12] & 1) === 1, inner: (r[i + 12] & 2) === 2,
    });
  }
  return all;
}

/**
 * The time that is shown for a reading of a log's clock, between two of its points.
 * @param {[number, number][]} clock
 * @param {number} at
 */
export function shownAt(clock, at) {
  if (clock.length === 0) return at;
  let lo = 0, hi = clock.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (clock[mid][0] < at) lo = mid + 1; else hi = mid;
  }
  if (lo === clock.length) return clock[lo - 1][1] + at - clock[lo - 1][0];
  if (lo === 0 || clock[lo][0] === at) return clock[lo][1] + at - clock[lo][0];
  const [a, b] = [clock[lo - 1], clock[lo]];
  return a[1] + Math.trunc((at - a[0]) / (b[0] - a[0]) * (b[1] - a[1]));
}
