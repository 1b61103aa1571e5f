// Groups that share shards: who owned which when, how many, and which shards have most to see. It knows no browser and draws nothing.
import './types.js';

/** @typedef {import('./types.js').Picture} Picture */
/** @typedef {{shard: number, member: number, from: number, sure: number, right: number, stopped: number, done: number, token: number, first: number, last: number, mark: number}} OwnTerm stopped, done: Infinity while they are not known */
/** @typedef {{shard: number, member: number, at: number, log: number, seq: number}} PlanChange */
/** @typedef {{t: number, n: number}} Count from t on */
/**
 * A group, decoded.
 * @typedef {object} Group
 * @property {import('./types.js').Shards} of
 * @property {OwnTerm[][]} terms by shard
 * @property {PlanChange[][]} plans by shard
 * @property {Count[]} owned how many shards had an owner
 * @property {Count[][]} counts by member, how many it owned
 * @property {number} most shards of one member at once
 * @property {number[]} telling the shards, those first that have most to see
 */

/** How many numbers a term has, and a change of the assignment: see why/pictureshards.go. */
const TERM_LENGTH = 11;
const PLAN_LENGTH = 5;
/** How many shards have rows at once. */
export const MOST_SHARDS = 32;
/** Marks of terms. */
export const OPEN_MARK = 1;
export const TWO_MARK = 2;

/** @type {WeakMap<import('./types.js').Shards, Group>} */
const decoded = new WeakMap();

/**
 * The group of a line, undefined if it is none.
 * @param {Picture} picture
 * @param {string} line
 * @returns {Group | undefined}
 */
export function groupOf(picture, line) {
  const of = picture.groups?.find(g => g.line === line);
  if (!of) return undefined;
  const known = decoded.get(of) ?? decodeGroup(of);
  decoded.set(of, known);
  return known;
}

/**
 * @param {import('./types.js').Shards} of
 * @returns {Group}
 */
function decodeGroup(of) {
  const terms = Array.from({ length: of.shards }, () => /** @type {OwnTerm[]} */ ([])), plans = Array.from({ length: of.shards }, () => /** @type {PlanChange[]} */ ([]));
  const { terms: n, plans: p, since } = of, all = /** @type {OwnTerm[]} */ ([]);
  for (let i = 0; i + TERM_LENGTH <= n.length; i += TERM_LENGTH) {
    const from = since + n[i + 2], after = (/** @type {number} */ x) => x < 0 ? Infinity : from + x;
    const t = { shard: n[i], member: n[i + 1], from, sure: from + n[i + 3], right: from + n[i + 4], stopped: after(n[i + 5]), done: after(n[i + 6]), token: n[i + 7], first: n[i + 8], last: n[i + 9], mark: n[i + 10] };
    terms[t.shard]?.push(t);
    all.push(t);
  }
  for (let i = 0; i + PLAN_LENGTH <= p.length; i += PLAN_LENGTH) plans[p[i]]?.push({ shard: p[i], member: p[i + 1], at: since + p[i + 2], log: p[i + 3], seq: p[i + 4] });
  for (const own of terms) own.sort((a, b) => a.from - b.from);
  const counts = of.members.map((_, m) => countOf(all.filter(t => t.member === m)));
  return { of, terms, plans, counts, owned: countOf(terms.flatMap(covered)), most: Math.max(1, ...counts.flatMap(c => c.map(({ n: many }) => many))), telling: telling(terms, of.shards) };
}

/**
 * How many spans there are at each time.
 * @param {{from: number, right: number}[]} spans
 * @returns {Count[]}
 */
function countOf(spans) {
  /** @type {Map<number, number>} */
  const changes = new Map();
  for (const { from, right } of spans) {
    changes.set(from, (changes.get(from) ?? 0) + 1);
    changes.set(right, (changes.get(right) ?? 0) - 1);
  }
  let n = 0;
  return [...changes].sort(([a], [b]) => a - b).filter(([, by]) => by !== 0).map(([t, by]) => ({ t, n: n += by }));
}

/**
 * When a shard had an owner, as spans that do not overlap.
 * @param {{from: number, right: number}[]} terms in their order
 */
function covered(terms) {
  /** @type {{from: number, right: number}[]} */
  const out = [];
  for (const { from, right } of terms) {
    const last = out[out.length - 1];
    if (last && from <= last.right) last.right = Math.max(last.right, right); else out.push({ from, right });
  }
  return out;
}

/**
 * When a shard had no owner, between two that it had.
 * @param {OwnTerm[]} terms in their order
 */
export function gapsOf(terms) {
  const all = covered(terms);
  return all.slice(1).map(({ from }, i) => ({ from: all[i].right, to: from }));
}

/**
 * The shards, those with two owners first, then those for which that is open, then those that were longest without one.
 * @param {OwnTerm[][]} terms
 * @param {number} shards
 */
function telling(terms, shards) {
  const score = terms.map(own => Math.max(0, ...own.map(t => t.mark)) * 1e15 + Math.max(0, ...gapsOf(own).map(g => g.to - g.from)) + own.length + (own.length ? 0 : 1e14));
  return Array.from({ length: shards }, (_, i) => i).sort((a, b) => score[b] - score[a] || a - b);
}

/**
 * Shards as text: "0-3, 7".
 * @param {number[]} shards in their order
 */
export function rangesOf(shards) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const n of shards) {
    const last = runs[runs.length - 1];
    if (last && n === last[1] + 1) last[1] = n; else runs.push([n, n]);
  }
  return runs.map(([a, b]) => a === b ? `${a}` : `${a}–${b}`).join(', ');
}

/**
 * How a group stands at the end: how many shards have an owner, how often they changed it, and what was worst.
 * @param {Group} group
 * @param {number} end
 */
export function groupSummary({ terms, of }, end) {
  let owned = 0, moves = 0, longest = 0, worst = -1, open = of.members.some(m => m.log < 0);
  terms.forEach((own, shard) => {
    if (own.some(t => t.from <= end && t.right >= end && t.stopped === Infinity)) owned++;
    own.forEach((t, i) => {
      if (i > 0 && own[i - 1].member !== t.member) moves++;
      open ||= t.mark === OPEN_MARK;
    });
    for (const g of gapsOf(own)) if (g.to - g.from > longest) [longest, worst] = [g.to - g.from, shard];
  });
  return { owned, moves, longest, worst, open };
}

/**
 * How many there were at a time.
 * @param {Count[]} counts
 * @param {number} t
 */
export function countAt(counts, t) { return counts.findLast(c => c.t <= t)?.n ?? 0; }

/**
 * The shards that have rows. Of many those are chosen that have most to see, or a block of them.
 * @param {Group} group
 * @param {string} [block] the first shard of a block; '' for those with most to see
 */
export function rowsOf({ telling: all, of }, block = '') {
  if (of.shards > MOST_SHARDS && block === '') return all.slice(0, MOST_SHARDS).sort((a, b) => a - b);
  const first = Number(block) || 0;
  return Array.from({ length: Math.max(0, Math.min(MOST_SHARDS, of.shards - first)) }, (_, i) => first + i);
}
