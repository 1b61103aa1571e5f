// The shapes of a group that shares shards: how many each member owned, and, for each shard, who owned it.
import './types.js';
import { cut, duration, fit, clip, RIGHT_AIR } from './picture.js';
import { OPEN_MARK, TWO_MARK, gapsOf } from './shards.js';

/** @typedef {import('./picture.js').Shape} Shape */
/** @typedef {import('./picture.js').Layout} Layout */
/** @typedef {import('./picture.js').View} PartOfTime */
/** @typedef {import('./types.js').Picture} Picture */

/** Where the bars of a row are: the owner's, and below it what still works for one before. */
const OWNER = { y: 2, h: 14 };
const LEFTOVER = { y: 17, h: 6 };
/** How many colours owners have. */
const COLOURS = 8;

/** What draws into a view. */
class Pen {
  /**
   * @param {Layout} l
   * @param {PartOfTime} view
   */
  constructor(l, view) {
    this.l = l;
    this.view = view;
    /** @type {Shape[]} */
    this.out = [];
  }

  /**
   * A bar, and the first of the texts that has room in it.
   * @param {string} layer
   * @param {number} from
   * @param {number} to
   * @param {number} y
   * @param {number} h
   * @param {{title?: string, key?: string, texts?: string[], ink?: string}} [o]
   */
  bar(layer, from, to, y, h, { title, key, texts = [], ink = 'in-owner' } = {}) {
    const box = to > from ? clip(this.l, this.view, from, Math.min(to, this.view.to)) : undefined;
    if (!box) return;
    this.out.push({ tag: 'rect', layer, x: box.x, y, w: box.w, h, title: title && cut(title, 400), key });
    const text = texts.find(t => box.w > t.length * 6.4 + 8);
    // Above a bar that is too low for it.
    if (text) this.out.push({ tag: 'text', layer: h < 12 ? 'over' : ink, x: box.x + 5, y: h < 12 ? y - 2 : y + h / 2 + 4, text });
  }

  /** @param {Shape} s */
  add(s) { this.out.push(s); }
}

/**
 * The shapes of the line's group, none if it is no group.
 * @param {Picture} picture
 * @param {Layout} l
 * @param {PartOfTime} view
 * @param {number} end of what is known
 * @returns {Shape[]}
 */
export function shardShapes(picture, l, view, end) {
  const { rows } = l;
  if (!rows) return [];
  const pen = new Pen(l, view);
  l.lanes.forEach((m, i) => {
    const member = rows.group.of.members.findIndex(o => o.log === m.log && o.machine === m.machine);
    if (member >= 0) memberLane(pen, rows.group, member, l.top(i), picture.logs[m.log].name, end);
  });
  summaryRow(pen, rows, end);
  rows.list.forEach((shard, i) => shardRow(pen, picture, rows, shard, rows.top + (i + 1) * rows.h, end));
  return pen.out;
}

/**
 * How many shards a member owned, and whether it works on some that it does not own any more.
 * @param {Pen} pen
 * @param {import('./shards.js').Group} group
 * @param {number} member
 * @param {number} y
 * @param {string} log
 * @param {number} end
 */
function memberLane(pen, { counts, most, terms }, member, y, log, end) {
  const { right, told } = pen.l.at;
  let next = -Infinity; // pixels: of steps on one pixel, one is drawn
  counts[member].forEach(({ t, n }, i, all) => {
    const to = Math.min(all[i + 1]?.t ?? end, end), h = Math.max(4, right.h * n / most), x = pen.l.x(to);
    if (n === 0 || x - next < 0.5) return;
    next = x;
    pen.bar('right', t, to, y + right.y + right.h - h, h, { title: `owns ${n}, for ${duration(to - t)}`, texts: [`owns ${n}`, String(n)], ink: 'in-right' });
  });
  const mine = terms.flat().filter(t => t.member === member);
  for (const s of union(mine.map(t => ({ from: t.from, to: t.stopped < Infinity ? t.stopped : t.sure, key: `${log}.${t.first}` })))) pen.bar('told', s.from, s.to, y + told.y, told.h, { title: 'its work on shards was told that it owns them', key: s.key });
  for (const s of union(mine.filter(t => t.stopped < Infinity).map(t => ({ from: t.right, to: t.stopped, key: `${log}.${t.last}` })))) pen.bar('late', s.from, s.to, y + told.y, told.h, { title: 'no right to shards, and the work was not told yet', key: s.key });
  for (const s of union(mine.filter(t => t.stopped < Infinity).map(t => ({ from: t.stopped, to: Math.min(t.done, end), key: `${log}.${t.last}` })))) pen.bar('work', s.from, s.to, y + told.y, told.h, { title: `work on shards returns, for ${duration(s.to - s.from)}`, key: s.key, texts: ['work returns'], ink: 'in-work' });
}

/**
 * Spans that overlap as one.
 * @param {{from: number, to: number, key: string}[]} spans
 */
function union(spans) {
  /** @type {{from: number, to: number, key: string}[]} */
  const out = [];
  for (const s of [...spans].sort((a, b) => a.from - b.from)) {
    const last = out[out.length - 1];
    if (s.to <= s.from) continue;
    if (last && s.from <= last.to) last.to = Math.max(last.to, s.to); else out.push({ ...s });
  }
  return out;
}

/**
 * How many shards have an owner.
 * @param {Pen} pen
 * @param {import('./picture.js').ShardRows} rows
 * @param {number} end
 */
function summaryRow(pen, { group, top, h, list }, end) {
  const all = group.of.shards, { l, view } = pen, many = list.length < all;
  pen.add({ tag: 'rect', layer: 'lane ensemble', x: 0, y: top, w: view.width, h });
  pen.add(rowName(l, top, l.narrow ? 'all' : `${all} shards`, many ? `${list.length} of ${all} are below` : undefined));
  let next = -Infinity;
  group.owned.forEach(({ t, n }, i, counts) => {
    const to = Math.min(counts[i + 1]?.t ?? end, end), x = l.x(to), few = n < all;
    if (x - next < 0.5) return;
    next = x;
    pen.bar(few ? 'nobody' : 'right', t, to, top + OWNER.y, OWNER.h, { title: `${n} of ${all} shards have an owner, for ${duration(to - t)}`, texts: [`${n} of ${all} have an owner`, `${n} of ${all}`, String(n)], ink: few ? 'in-told' : 'in-right' });
  });
}

/**
 * The name of a row.
 * @param {Layout} l
 * @param {number} y
 * @param {string} text
 * @param {string} [title]
 * @returns {Shape}
 */
function rowName(l, y, text, title) { return { tag: 'text', layer: 'row-name', x: l.left - 8, y: y + OWNER.y + 11, text, title }; }

/**
 * One shard: its owners, what works on it although another one may own it, when nobody owned it, and to whom it was assigned.
 * @param {Pen} pen
 * @param {Picture} picture
 * @param {import('./picture.js').ShardRows} rows
 * @param {number} shard
 * @param {number} y
 * @param {number} end
 */
function shardRow(pen, picture, { group, h, list }, shard, y, end) {
  const { l, view } = pen, terms = group.terms[shard], plans = group.plans[shard], { members } = group.of;
  const who = (/** @type {number} */ m) => members[m]?.who ?? 'nobody', log = (/** @type {number} */ m) => picture.logs[members[m]?.log]?.name;
  pen.add({ tag: 'rect', layer: list.indexOf(shard) % 2 ? 'lane odd' : 'lane', x: 0, y, w: view.width, h });
  pen.add(rowName(l, y, l.narrow ? String(shard) : `shard ${shard}`));
  for (const g of unowned(group, shard, end)) {
    const long = duration(g.to - g.from), waits = g.member >= 0 && g.to < end ? `, assigned to ${who(g.member)}` : '';
    if (members[g.member]?.log < 0) pen.bar('gap', g.from, g.to, y + OWNER.y, OWNER.h, { title: `assigned to ${who(g.member)}, whose log is not here`, texts: [`${who(g.member)}: no log`, 'no log'], ink: 'in-told' });
    else pen.bar('nobody', g.from, g.to, y + OWNER.y, OWNER.h, { title: `nobody owned shard ${shard} for ${long}${waits}`, texts: [`nobody for ${long}`, 'nobody'], ink: 'in-told' });
  }
  for (const t of terms) {
    const name = who(t.member), colour = `owner o${t.member % COLOURS}`, key = `${log(t.member)}.${t.first}`, title = `${name} owns shard ${shard} with token ${t.token}, for ${duration(t.sure - t.from)}`;
    const alone = t.mark === TWO_MARK ? Math.min(t.sure, Math.max(t.from, ...terms.filter(o => o.from < t.from).map(o => o.right))) : t.from; // no text lies on a fault
    pen.bar(colour, t.from, alone, y + OWNER.y, OWNER.h, { title, key });
    pen.bar(colour, alone, t.sure, y + OWNER.y, OWNER.h, { title, key, texts: [`${name}, token ${t.token}`, name, fit(name, 20, 11)] });
    if (t.right > t.sure) pen.bar(`${colour} maybe`, t.sure, t.right, y + OWNER.y, OWNER.h, { title: `${name} may own it, at most: its log ends before`, key, texts: ['at most'] });
    if (t.stopped === Infinity) continue;
    const told = `${log(t.member)}.${t.last}`;
    pen.bar('late', t.right, t.stopped, y + LEFTOVER.y, LEFTOVER.h, { title: `${name} has no right, and its work was not told yet, for ${duration(t.stopped - t.right)}`, key: told });
    pen.bar('work', t.stopped, Math.min(t.done, end), y + LEFTOVER.y, LEFTOVER.h, { title: t.done === Infinity ? `the work of ${name} has not returned` : `the work of ${name} returns after ${duration(t.done - t.stopped)}`, key: told });
  }
  planMarks(pen, picture, plans, y, who);
  faults(pen, terms, shard, y, who, log);
}

/**
 * When no log has an owner of a shard, and to whom it was assigned at the end of that: parts in which it was assigned to a member
 * without a log stand alone.
 * @param {import('./shards.js').Group} group
 * @param {number} shard
 * @param {number} end
 */
function unowned({ terms: all, plans: changes, of }, shard, end) {
  const terms = all[shard], plans = changes[shard], begun = plans[0]?.at ?? of.since, last = Math.max(begun, ...terms.map(t => t.right));
  const gaps = [{ from: begun, to: terms[0]?.from ?? begun }, ...gapsOf(terms), { from: last, to: end }].filter(g => g.to > g.from);
  return gaps.flatMap(({ from, to }) => {
    /** @type {{from: number, to: number, member: number}[]} */
    const parts = [];
    for (const t of [from, ...plans.map(p => p.at).filter(at => at > from && at < to)]) {
      const member = plans.findLast(p => p.at <= t)?.member ?? -1, part = parts[parts.length - 1];
      if (part) part.to = t;
      if (part && of.members[part.member]?.log !== -1 && of.members[member]?.log !== -1) part.member = member;
      else parts.push({ from: t, to, member });
    }
    for (const part of parts.slice(-1)) part.to = to;
    return parts;
  });
}

/**
 * To whom a shard was assigned when.
 * @param {Pen} pen
 * @param {Picture} picture
 * @param {import('./shards.js').PlanChange[]} plans
 * @param {number} y
 * @param {(member: number) => string} who
 */
function planMarks({ l, view, out }, picture, plans, y, who) {
  let next = -Infinity;
  for (const p of plans) {
    const x = l.x(p.at);
    if (x < l.left || x > view.width - RIGHT_AIR || x - next < 2) continue;
    next = x;
    out.push({ tag: 'path', layer: 'plan', d: `M${(x - 4).toFixed(1)} ${y}h8l-4 6z`, title: `assigned to ${who(p.member)}`, key: `${picture.logs[p.log].name}.${p.seq}` });
  }
}

/**
 * Where two may have owned a shard at once.
 * @param {Pen} pen
 * @param {import('./shards.js').OwnTerm[]} terms
 * @param {number} shard
 * @param {number} y
 * @param {(member: number) => string} who
 * @param {(member: number) => string | undefined} log
 */
function faults(pen, terms, shard, y, who, log) {
  terms.forEach((t, i) => {
    const before = terms[i - 1];
    if (!before || t.mark !== OPEN_MARK && t.mark !== TWO_MARK) return;
    const two = t.mark === TWO_MARK, from = t.from, to = Math.max(from, Math.min(before.right, t.right)), least = pen.l.time(pen.l.x(from) + 3);
    pen.bar(two ? 'two fault' : 'open', from, Math.max(to, least), y, 24, { title: two ? `shard ${shard} had TWO OWNERS, ${who(before.member)} and ${who(t.member)}, for ${duration(to - from)}` : `whether ${who(before.member)} owned shard ${shard} until ${who(t.member)} did is open`, key: `${log(t.member)}.${t.first}`, texts: two ? [`TWO OWNERS for ${duration(to - from)}`, 'TWO OWNERS', 'TWO'] : [], ink: 'in-fault' });
  });
}
