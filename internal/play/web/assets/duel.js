// The first thing that the playground shows: two worlds next to each other, the library's and one with the usual lock's bug, and the
// same cut in both. This module says what is drawn and what is said; it knows no browser.
import './types.js';
import './answers.js';

/** @typedef {import('./answers.js').Answer} Answer */
/** @typedef {import('./picture.js').Shape} Shape */
/** @typedef {{name: string, from: number, to: number}} Right */

const ONE_SECOND = 1e6;
/** How much time is in sight, and how much of it is before the cut at most. */
const SIGHT = 24 * ONE_SECOND;
const BEFORE_CUT = 8 * ONE_SECOND;
/** How far a world is run after the cut. */
export const AFTER_CUT = 18 * ONE_SECOND;
/** For how long two leaders are shown before the worlds stop. */
export const SHOWN_TWO = 1.5 * ONE_SECOND;
const NAMES_WIDE = 74;
const AXIS_HIGH = 24;
const DUEL_ROW = 54;

/**
 * Who had the right to lead, and when.
 * @param {Answer} a
 * @returns {Right[]}
 */
export function rightsOf(a) {
  const { logs, machines } = a.document.picture;
  return machines.flatMap(m => m.right.map(s => ({ name: logs[m.log].name, from: s.from, to: s.to || a.now }))).sort((x, y) => x.from - y.from);
}

/**
 * Who leads at a moment, and the server that they are connected to; undefined if nobody leads or is connected.
 * @param {Answer} a
 * @param {number} t
 */
export function leaderAt(a, t) {
  const name = rightsOf(a).find(r => r.from <= t && t < r.to)?.name, server = a.participants.find(p => p.name === name)?.server;
  return name && server ? { name, server } : undefined;
}

/**
 * The first moment at which two lead; undefined if there is none.
 * @param {Answer} a
 * @returns {{at: number, first: string, second: string} | undefined}
 */
export function twoOf(a) {
  const all = rightsOf(a);
  for (const [i, second] of all.entries()) {
    const first = all.slice(0, i).find(r => r.name !== second.name && r.to > second.from);
    if (first) return { at: second.from, first: first.name, second: second.name };
  }
  return undefined;
}

/**
 * The link of a world with a cut.
 * @param {string} head
 * @param {number} at microseconds since the world began
 * @param {string} server
 */
export function cutLink(head, at, server) {
  const s = Math.round(at / 1e5) / 10;
  return `${head}~${s}:isolate:${server}:15@${Math.ceil(s + AFTER_CUT / ONE_SECOND)}`;
}

/**
 * What is said when the second world has two leaders: one sentence.
 * @param {Answer} ours
 * @param {Answer} usual
 */
export function verdictOf(ours, usual) {
  const two = twoOf(usual);
  if (!two) return 'Neither has two leaders this time: try again at another moment.';
  const own = rightsOf(ours).filter(r => r.name === two.first && r.from <= two.at).at(-1), ago = own ? (two.at - own.to) / ONE_SECOND : 0;
  return `Two leaders: with the usual lock ${two.first} and ${two.second} both lead; with incumbent ${two.first} had stopped ${ago.toFixed(1)} s before ${two.second} began.`;
}

/**
 * What is drawn of a world until a moment.
 * @param {Answer} a
 * @param {{t: number, cut?: {at: number, server: string, name: string}, width: number}} o times are microseconds since 1970
 * @returns {{height: number, shapes: Shape[]}}
 */
export function duelShapes(a, { t, cut, width }) {
  const from = cut ? Math.max(a.begin, cut.at - BEFORE_CUT) : Math.max(a.begin, t - BEFORE_CUT), room = Math.max(1, width - NAMES_WIDE - 8);
  const x = (/** @type {number} */ at) => NAMES_WIDE + Math.min(1, Math.max(0, (at - from) / SIGHT)) * room;
  /** @type {Shape[]} */
  const out = [];
  const height = AXIS_HIGH + (a.participants.length + 1) * DUEL_ROW + 6;
  for (let at = Math.ceil((from - a.begin) / (5 * ONE_SECOND)) * 5 * ONE_SECOND + a.begin; at <= from + SIGHT; at += 5 * ONE_SECOND) {
    out.push({ tag: 'path', layer: 'grid', d: `M${x(at).toFixed(1)} ${AXIS_HIGH - 4}V${height - 4}` });
    if (x(at) < width - 24) out.push({ tag: 'text', layer: 'axis', x: x(at), y: 13, text: `${Math.round((at - a.begin) / ONE_SECOND)} s` });
  }
  const rights = rightsOf(a);
  a.participants.forEach((p, i) => {
    const y = AXIS_HIGH + i * DUEL_ROW;
    out.push({ tag: 'rect', layer: i % 2 ? 'lane odd' : 'lane', x: 0, y, w: width, h: DUEL_ROW }, { tag: 'text', layer: 'who', x: 8, y: y + 33, text: p.name });
    for (const r of rights) {
      if (r.name !== p.name || r.from > t || r.to < from) continue;
      const left = x(r.from), w = x(Math.min(r.to, t)) - left;
      out.push({ tag: 'rect', layer: 'right', x: left, y: y + 9, w, h: DUEL_ROW - 18 });
      if (w > 48) out.push({ tag: 'text', layer: 'in-right', x: left + 8, y: y + 33, text: r.to <= t ? 'led' : 'leads' });
    }
  });
  const y = AXIS_HIGH + a.participants.length * DUEL_ROW;
  out.push({ tag: 'text', layer: 'sub', x: 8, y: y + 32, text: 'server' });
  out.push({ tag: 'rect', layer: 'link', x: x(from), y: y + 23, w: x(Math.min(t, cut?.at ?? t)) - x(from), h: 8 });
  if (cut && t > cut.at) {
    out.push({ tag: 'rect', layer: 'cut', x: x(cut.at), y: y + 16, w: x(t) - x(cut.at), h: 22 });
    if (x(t) - x(cut.at) > 60) out.push({ tag: 'text', layer: 'in-cut', x: x(cut.at) + 8, y: y + 31, text: 'cut off' });
  }
  const two = twoOf(a);
  if (two && t >= two.at) {
    const rows = [two.first, two.second].map(name => a.participants.findIndex(p => p.name === name)), top = AXIS_HIGH + Math.min(...rows) * DUEL_ROW;
    out.push({ tag: 'rect', layer: 'two', x: x(two.at) - 2, y: top + 2, w: Math.max(5, x(t) - x(two.at) + 4), h: (Math.abs(rows[0] - rows[1]) + 1) * DUEL_ROW - 4 });
  }
  out.push({ tag: 'path', layer: 'now', d: `M${x(t).toFixed(1)} ${AXIS_HIGH - 6}V${height - 4}` });
  return { height, shapes: out };
}
