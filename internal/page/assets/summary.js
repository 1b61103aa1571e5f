// What one wants to know first of each line: who has the right, or since when nobody has, and what was worst. It knows no browser.
import './types.js';
import { duration, hasLeaders } from './picture.js';
import { groupOf, groupSummary } from './shards.js';

/** @typedef {import('./types.js').Picture} Picture */
/**
 * A line in short. Times are microseconds.
 * @typedef {object} LineSummary
 * @property {string} line
 * @property {string[]} now who has the right at the end
 * @property {number} since when the right of the first of those began, or when nobody had it any more; 0 if nobody ever had it
 * @property {boolean} leads whether somebody should always lead: false for locks
 * @property {number} moves
 * @property {number} longest how long nobody had the right at most
 * @property {number} total how long nobody had it in all
 * @property {import('./types.js').Said['gapBounds']} [bounds] of both, as why has them
 * @property {'two' | 'open' | 'apart'} verdict whether two had the right at once
 * @property {boolean} worked whether two worked at once, as far as it was recorded
 * @property {{now: string, without: string}} [group] of one that shares shards: what is said of it
 * @property {boolean} left whether the last leader left on purpose
 */

/**
 * The lines of a picture, those in trouble first: two at once, nobody now, unknown, and then the longest time without a leader.
 * @param {Picture} picture
 * @param {number} end the last moment that is known
 * @returns {LineSummary[]}
 */
export function summaries(picture, end) {
  const all = picture.lines.map(line => summaryOf(picture, line, end));
  /** @param {LineSummary} s */
  const trouble = s => s.verdict === 'two' ? 4 : s.worked ? 3 : s.leads && s.since > 0 && s.now.length === 0 && !s.left ? 2 : s.verdict === 'open' ? 1 : 0;
  return all.map((s, i) => ({ s, i })).sort((a, b) => trouble(b.s) - trouble(a.s) || b.s.longest - a.s.longest || a.i - b.i).map(({ s }) => s);
}

/**
 * @param {Picture} picture
 * @param {string} line
 * @param {number} end
 * @returns {LineSummary}
 */
function summaryOf(picture, line, end) {
  const group = groupOf(picture, line);
  if (group) {
    const { owned, moves, longest, worst, open } = groupSummary(group, end), { shards, two } = group.of;
    return {
      line, leads: true, moves, longest, total: 0, now: owned === shards ? ['all'] : [], since: 1, worked: false, left: false, verdict: two ? 'two' : open ? 'open' : 'apart',
      group: { now: `${owned} of ${shards} shards have an owner`, without: worst < 0 ? '–' : `shard ${worst} had no owner for ${duration(longest)}` },
    };
  }
  const rights = picture.machines.filter(m => m.line === line).flatMap(m => m.right.map(s => ({ who: m.who, from: s.from, to: s.to || end }))).sort((a, b) => a.from - b.from);
  const moves = picture.moves.filter(m => m.line === line), leads = hasLeaders(picture, line);
  let until = rights[0]?.from ?? 0, longest = 0, total = 0;
  for (const s of [...rights, { from: end, to: end }]) {
    const gap = Math.min(s.from, end) - until;
    if (gap > 0 && rights.length) {
      longest = Math.max(longest, gap);
      total += gap;
    }
    until = Math.max(until, Math.min(s.to, end));
  }
  const said = picture.summary?.find(s => s.path === line);
  const now = rights.filter(s => s.from <= end && s.to >= end);
  const last = rights.reduce((most, s) => Math.max(most, Math.min(s.to, end)), 0);
  return {
    line, leads, moves: moves.length, longest: leads ? (said?.longestNanos ?? longest * 1000) / 1000 : 0, total: leads ? (said?.withoutNanos ?? total * 1000) / 1000 : 0,
    bounds: leads ? said?.gapBounds : undefined,
    now: [...new Set(now.map(s => s.who))], since: now[0]?.from ?? last,
    worked: said?.work === 'two worked', left: said?.left === true,
    verdict: moves.some(m => m.two) ? 'two' : moves.some(m => m.open) ? 'open' : 'apart',
  };
}

/**
 * How long nobody had the right, with both bounds if they differ in what is shown.
 * @param {Pick<LineSummary, 'longest' | 'total' | 'bounds'>} s
 */
export function withoutText({ longest, total, bounds: b }) {
  const both = (/** @type {number} */ least, /** @type {number} */ most) => duration(least) === duration(most) ? duration(most) : `${duration(least)} to ${duration(most)}`;
  return b ? `${both(b.longestLeastNanos / 1000, b.longestMostNanos / 1000)} (${both(b.leastNanos / 1000, b.mostNanos / 1000)} in all)`
    : `${duration(longest)} (${duration(total)} in all)`;
}

/** How many participants are named that were skipped. */
const MOST_SKIPPED = 3;

/** How many terms are told: the last. */
const MOST_TERMS = 4;

/**
 * A sentence with its first word as a name: "Led: …".
 * @param {string} text
 */
function named(text) {
  const [name, ...rest] = text.split(': ');
  return { name, text: rest.join(': '), command: '' };
}

/**
 * What is in the way of a leader, who was skipped, and what to do about a line.
 * @param {Picture} picture
 * @param {string} line
 * @returns {{name: string, text: string, command: string}[]}
 */
export function adviceOf(picture, line) {
  if (groupOf(picture, line)) { // the summary has each of its shards
    const all = new Map((picture.summary ?? []).filter(s => s.path === line).flatMap(s => s.do ?? []).map(d => [d.text, d]));
    return [...all.values()].slice(0, MOST_TERMS).map(d => ({ name: 'Do', text: d.text, command: d.command ?? '' }));
  }
  const said = picture.summary?.find(s => s.path === line), way = said?.inTheWay, skipped = said?.skipped ?? [];
  const who = way ? [way.participant, way.host && `at ${way.host}`].filter(s => s).join(' ') : '';
  return [
    ...(said?.terms ?? []).slice(-MOST_TERMS).flatMap(t => t.text ? [named(t.text)] : []), ...said?.without ? [named(said.without)] : [],
    ...way ? [{ name: 'In the way', text: `${who ? `the node of ${who}` : way.node}: ${way.why}`, command: '' }] : [],
    ...skipped.slice(0, MOST_SKIPPED).map(s => ({ name: 'Skipped', text: s.text, command: '' })),
    ...(said?.do ?? []).map(d => ({ name: 'Do', text: d.text, command: d.command ?? '' })),
  ];
}

/**
 * How bad it is what the headline says: its colour. Work of two at once is not good, who else may have had the right.
 * @param {Picture} picture
 * @returns {'bad' | 'open' | 'good'}
 */
export function howBad({ verdict, work, writes }) {
  if (verdict === 'two at once') return 'bad';
  return [verdict, work].includes('cannot tell') || work === 'two worked' || writes === 'out of a term' ? 'open' : 'good';
}

/** What causes are called: what did not work, and whose it was. */
const CAUSES = new Map([
  ['killed', 'its process died'], ['paused', 'its process did not run'], ['slept', 'its machine slept'], ['time-jump', 'its clock stood still while time passed'],
  ['connection-closed', 'its server closed the connection'], ['connection-broken', 'its connection broke'], ['silent', 'its server was silent'],
  ['server-cut-off', 'its server was cut off from the ensemble'], ['slow-ensemble', 'the ensemble answered too late'], ['slow-loop', 'its process was too slow'],
  ['unconfirmed', 'no confirmation came in time'], ['session-expired', 'the ensemble ended its session'], ['session-refused', 'its session had expired'],
  ['deleted', 'somebody deleted its node'], ['evicted', 'another client deleted its node'], ['changed', 'somebody wrote to its node'],
  ['closed', 'it was closed'], ['resigned', 'it resigned'], ['returned', 'its work returned'], ['revoked', 'it was asked to release'],
]);

/**
 * A cause in words; its own name if it is a new one.
 * @param {string} cause
 */
export function causeText(cause) { return CAUSES.get(cause) ?? cause; }
