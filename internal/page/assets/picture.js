// Facts in, picture out: lanes as shapes. It knows no browser and draws nothing, so a playground can share it.
import './types.js';
import { groupOf, rowsOf } from './shards.js';

/** @typedef {import('./types.js').Rec} Rec */
/** @typedef {import('./types.js').Txn} Txn */
/** @typedef {import('./types.js').Span} Span */
/** @typedef {import('./types.js').Picture} Picture */
/**
 * One shape. A class says which layer it is; key names the item that a click selects.
 * @typedef {object} Shape
 * @property {'rect' | 'text' | 'path' | 'circle'} tag
 * @property {string} layer
 * @property {number} [x]
 * @property {number} [y]
 * @property {number} [w]
 * @property {number} [h]
 * @property {string} [d]
 * @property {string} [text]
 * @property {string} [title]
 * @property {string} [key]
 */
/** @typedef {{from: number, to: number, width: number, line: string, unfolded?: boolean, block?: string}} View unfolded: also logs without a part in the line; block: of shards, see rowsOf */
/** @typedef {{group: import('./shards.js').Group, list: number[], top: number, h: number}} ShardRows a row for all shards, and one for each in the list */

export const LEFT = 190;
export const RIGHT_AIR = 14;
const TOP = 54;
const MOST_LANES = 60;
/** A view that is narrower has each name above its bars, and no room for records and connections. */
const NARROW_VIEW = 600;

/** @typedef {{y: number, h: number}} Place */

/** The layers of a lane: what it is called, its place, and its height. They are never mixed. */
export const LAYERS = [
  { layer: 'right', name: 'may believe', y: 8, h: 17 },
  { layer: 'told', name: 'work told', y: 29, h: 12 },
  { layer: 'node', name: 'node stands', y: 46, h: 9 },
  { layer: 'link', name: 'connection', y: 61, h: 5 },
  { layer: 'ticks', name: 'records', y: 74, h: 12 },
];
const RIGHTS = LAYERS[0];
const TOLD = LAYERS[1];
const NODE = LAYERS[2];
const LINK = LAYERS[3];
const TICKS = LAYERS[4];
/** How high a lane is, and where its layers are: with a name beside the bars, and above them. */
const WIDE = { left: LEFT, lane: 98, at: { right: RIGHTS, told: TOLD, node: NODE, link: /** @type {Place | undefined} */ (LINK), ticks: /** @type {Place | undefined} */ (TICKS) } };
const NARROW = { left: 12, lane: 78, at: { right: { y: 24, h: 17 }, told: { y: 45, h: 12 }, node: { y: 61, h: 9 }, link: undefined, ticks: undefined } };

/** How high a shard's row is, and where bars begin in a narrow view, if shards have names left of them. */
const SHARD_ROW = 25;
const NARROW_NAMES = 38;

/** Widths of characters, in the font's size, as far as they differ much. */
const WIDTHS = [[/[ijl.,:;|!'’()[\]ft ]/, 0.36], [/[mwMW@%]/, 0.95], [/[A-Z\u0080-\u024f]/, 0.74], [/[^\u0000-\u024f]/, 1.05]];

/**
 * A text that is at most so wide.
 * @param {string} text
 * @param {number} room pixels
 * @param {number} size of the font
 */
export function fit(text, room, size) {
  let wide = 0, end = 0;
  for (const c of text) {
    wide += size * /** @type {number} */ (WIDTHS.find(([pattern]) => /** @type {RegExp} */ (pattern).test(c))?.[1] ?? 0.62);
    if (wide > room) return `${text.slice(0, Math.max(0, end - 1))}…`;
    end += c.length;
  }
  return text;
}

/**
 * What each log is called: its own name, or for a recorded run, whose name is a time stamp, that of a participant in it. Two have
 * different names.
 * @param {Picture} picture
 */
export function logNames(picture) {
  /** @type {Map<number, string>} */
  const who = new Map();
  for (const m of picture.machines) if (m.who && !who.has(m.log)) who.set(m.log, m.who);
  /** @type {Map<string, number>} */
  const taken = new Map();
  return picture.logs.map(({ name }, i) => {
    const short = nameless(name), plain = short === name ? name : who.get(i) ?? (short.split('/').find(s => s) || name), n = (taken.get(plain) ?? 0) + 1;
    taken.set(plain, n);
    return n === 1 ? plain : `${plain} (${n})`;
  });
}

/**
 * A text of at most so many characters.
 * @param {string} text
 * @param {number} most
 */
export function cut(text, most) { return text.length > most ? `${text.slice(0, most - 1)}…` : text; }

/**
 * A duration, from microseconds.
 * @param {number} us
 */
export function duration(us) {
  if (us < 1e3) return `${us.toFixed(0)} µs`;
  if (us < 1e6) return `${(us / 1e3).toFixed(1)} ms`;
  if (us < 6e7) return `${(us / 1e6).toFixed(2)} s`;
  if (us < 3.6e9) return `${Math.floor(us / 6e7)} min ${Math.floor(us % 6e7 / 1e6)} s`;
  return `${Math.floor(us / 3.6e9)} h ${Math.floor(us % 3.6e9 / 6e7)} min`;
}

/**
 * A time of day, UTC.
 * @param {number} us
 * @param {number} [digits] of a second's fraction
 */
export function clockText(us, digits = 3) {
  const date = new Date(us / 1e3);
  if (Number.isNaN(date.getTime())) return '?';
  const text = date.toISOString().slice(11, 23);
  return digits === 3 ? text : text.slice(0, digits === 0 ? 8 : 9 + digits);
}

/** Distances between marks of the axis, in microseconds. */
const STEPS = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 3e7, 6e7, 3e8, 6e8, 1.8e9, 3.6e9, 1.08e10, 2.16e10, 8.64e10];

/**
 * Where the lanes of a picture are, for a view.
 * @param {Picture} picture
 * @param {View} view
 */
export function layout(picture, view) {
  const all = picture.machines.map((m, index) => ({ m, index, begun: begunAt(m) })).filter(({ m }) => view.line === '' || m.line === view.line);
  /** @param {typeof all[0]} a @param {typeof all[0]} b */
  const inTime = (a, b) => a.begun === b.begun ? a.index - b.index : a.begun - b.begun;
  all.sort((a, b) => Number(b.m.right.length > 0) - Number(a.m.right.length > 0) || inTime(a, b));
  const lanes = all.slice(0, MOST_LANES).sort(inTime).map(({ m }) => m);
  // Logs without a part in the line are folded, unless nobody has one.
  const plain = picture.logs.map((_, i) => i).filter(i => !lanes.some(m => m.log === i)), shown = view.unfolded || lanes.length === 0 ? plain.slice(0, Math.max(0, MOST_LANES - lanes.length)) : [];
  const names = shown.length ? logNames(picture) : [];
  for (const log of shown) lanes.push({ log, machine: 'session', who: names[log], line: '', nodes: [], right: [], heard: [], work: [] });
  const group = groupOf(picture, view.line), list = group ? rowsOf(group, view.block) : [], below = view.width < NARROW_VIEW ? NARROW : WIDE;
  const form = group && below === NARROW ? { ...below, left: NARROW_NAMES } : below, top = TOP + lanes.length * form.lane;
  const rows = group && { group, list, top, h: SHARD_ROW }, bottom = rows ? top + (list.length + 1) * SHARD_ROW + 4 : top;
  const span = Math.max(1, view.to - view.from), room = Math.max(1, view.width - form.left - RIGHT_AIR);
  return {
    ...form, narrow: below === NARROW, lanes, rows, folded: plain.length - shown.length, more: all.length - Math.min(all.length, MOST_LANES), bottom, height: bottom + 64,
    /** @param {number} t */
    x: t => form.left + room * (t - view.from) / span,
    /** @param {number} x */
    time: x => view.from + (x - form.left) / room * span,
    /** @param {number} i */
    top: i => TOP + i * form.lane,
  };
}

/** @typedef {ReturnType<typeof layout>} Layout */

/**
 * When a participant's first node or right began.
 * @param {import('./types.js').Participant} m
 */
function begunAt({ nodes, right }) {
  let first = Infinity;
  for (const s of nodes) first = Math.min(first, s.from);
  for (const s of right) first = Math.min(first, s.from);
  return first;
}

/**
 * The machines of a lane.
 * @param {import('./types.js').Participant} m
 */
export function machinesOf(m) { return m.all ?? [m.machine]; }

/**
 * The lane of a record, -1 if it has none: its machine's, or else the first of its client.
 * @param {Layout} l
 * @param {Picture} picture
 * @param {Rec} rec
 */
export function laneOf(l, picture, rec) {
  const own = l.lanes.findIndex(m => picture.logs[m.log].name === rec.log && machinesOf(m).includes(rec.machine));
  return own >= 0 ? own : l.lanes.findIndex(m => picture.logs[m.log].name === rec.log);
}

/**
 * The shapes of a picture in a view, those behind first.
 * @param {Picture} picture
 * @param {Map<string, Rec[]>} logs
 * @param {View} view
 * @returns {Shape[]}
 */
export function shapes(picture, logs, view) {
  const l = layout(picture, view);
  /** @type {Shape[]} */
  const out = [];
  axis(out, l, view);
  const chips = moveBands(out, l, picture, view);
  l.lanes.forEach((m, i) => lane(out, l, i, picture, m, logs.get(picture.logs[m.log].name) ?? [], view));
  ensemble(out, l, picture, view);
  out.push(...chips);
  if (l.more > 0) out.push({ tag: 'text', layer: 'note', x: 8, y: l.height - 4, text: `and ${l.more} more participants of this line` });
  return out;
}

/**
 * @param {Shape[]} out
 * @param {Layout} l
 * @param {View} view
 */
function axis(out, l, view) {
  const step = STEPS.find(s => l.x(view.from + s) - l.left > 96) ?? STEPS[STEPS.length - 1];
  const digits = step < 1e6 ? 3 : 0;
  for (let t = Math.ceil(view.from / step) * step, n = 0; t <= view.to && n < 400; t += step, n++) {
    out.push({ tag: 'path', layer: 'grid', d: `M${l.x(t).toFixed(1)} 20V${l.bottom + 40}` });
    if (l.x(t) < view.width - 48 && l.x(t) > 30) out.push({ tag: 'text', layer: 'axis', x: l.x(t), y: 14, text: clockText(t, digits) });
  }
}

/** Recipes of which somebody should lead at all times: with the others, nobody may have the right for long. */
const LEADS = /^(latch|selector|election|jobelection)-/;

/**
 * Whether a line is one of leaders, and not of locks.
 * @param {Picture} picture
 * @param {string} line
 */
export function hasLeaders(picture, line) { return picture.machines.some(m => m.line === line && machinesOf(m).some(name => LEADS.test(name))); }

/**
 * The moves: from the end of one right to the beginning of the next. It returns what is said of them, which lies on everything.
 * @param {Shape[]} out
 * @param {Layout} l
 * @param {Picture} picture
 * @param {View} view
 * @returns {Shape[]}
 */
function moveBands(out, l, picture, view) {
  if (l.rows) return []; // each shard's row has its own
  const seen = new Seen();
  /** @type {{layer: string, a: number, b: number, text: string, key: string}[]} */
  const bands = [];
  for (const m of picture.moves) {
    if (view.line !== '' && m.line !== view.line || m.from === 0) continue;
    const a = Math.min(m.from, m.to), b = Math.max(m.from, m.to), key = `${m.at.log}.${m.at.seq}`;
    const box = clip(l, view, a, b);
    const [layer, what] = m.two ? ['two', 'two had the right'] : m.open || m.from > m.to ? ['open', 'whether two had the right is open'] : ['nobody', 'nobody had the right'];
    if (!box || seen.has(layer, box)) continue;
    const least = m.two ? 3 : 0; // a short one has to be seen, too
    out.push({ tag: 'rect', layer, x: box.x, y: 20, w: Math.max(least, box.w), h: l.bottom - 24, title: `${what}, for ${duration(b - a)}: ${cut(m.title, 200)}`, key });
    if (m.two || b - a > 1e5 && hasLeaders(picture, m.line)) bands.push({ layer, a, b, text: layer === 'nobody' && m.nobody || `${m.two ? 'TWO' : layer === 'open' ? 'two?' : 'nobody'} for ${duration(b - a)}`, key });
  }
  return chipsOf(bands, l, view);
}

/** How high a chip is, and how far below the axis. */
const CHIP = { y: 34, h: 15 };

/**
 * A chip above each band that has room for one: two at once first, then the longest.
 * @param {{layer: string, a: number, b: number, text: string, key: string}[]} bands
 * @param {Layout} l
 * @param {View} view
 */
function chipsOf(bands, l, view) {
  /** @type {[number, number][]} */
  const taken = [];
  /** @type {Shape[]} */
  const out = [];
  for (const { layer, a, b, text, key } of [...bands].sort((p, q) => Number(q.layer === 'two') - Number(p.layer === 'two') || q.b - q.a - p.b + p.a).slice(0, 200)) {
    const w = text.length * 7 + 12, middle = (Math.max(l.left, l.x(a)) + Math.min(view.width - RIGHT_AIR, l.x(b))) / 2;
    const x = Math.min(Math.max(l.left, middle - w / 2), view.width - w - 2);
    if (taken.some(([from, to]) => x < to && x + w > from)) continue;
    taken.push([x - 3, x + w + 3]);
    out.push({ tag: 'rect', layer: `chip ${layer}`, x, y: CHIP.y, w, h: CHIP.h, key }, { tag: 'text', layer: `in-chip ${layer}`, x: x + 6, y: CHIP.y + 11.5, text, key });
  }
  return out;
}

/**
 * The part of a time that a view shows; undefined for none.
 * @param {Layout} l
 * @param {View} view
 * @param {number} from
 * @param {number} to
 */
export function clip(l, view, from, to) {
  if (to < view.from || from > view.to) return undefined;
  const x = Math.max(l.left, l.x(from));
  return { x, w: Math.max(THIN, Math.min(view.width - RIGHT_AIR, l.x(to)) - x) };
}

/** How wide a bar is at least. */
const THIN = 1.5;

/** Where the last narrow bar of each layer is. Of those that begin on one pixel, one is drawn: the others could not be seen. */
class Seen {
  constructor() {
    /** @type {Map<string, number>} */
    this.last = new Map();
  }

  /**
   * Whether a bar would lie on one of its layer.
   * @param {string} layer
   * @param {{x: number, w: number}} box
   */
  has(layer, box) {
    if (box.w > THIN) return false;
    if (Math.abs(box.x - (this.last.get(layer) ?? -9)) < 1) return true;
    this.last.set(layer, box.x);
    return false;
  }
}

/**
 * One participant's lane.
 * @param {Shape[]} out
 * @param {Layout} l
 * @param {number} i
 * @param {Picture} picture
 * @param {import('./types.js').Participant} m
 * @param {Rec[]} records
 * @param {View} view
 */
function lane(out, l, i, picture, m, records, view) {
  const y = l.top(i), client = picture.logs[m.log], seen = new Seen();
  const end = records.length ? records[records.length - 1].t : view.from;
  out.push({ tag: 'rect', layer: i % 2 ? 'lane odd' : 'lane', x: 0, y, w: view.width, h: l.lane });
  const twin = l.lanes.some(o => o !== m && o.who === m.who), sub = twin ? `${nameless(client.name)} ${m.machine}` : m.machine, title = cut(`${m.who}, ${m.machine} of ${client.name}`, 400);
  const top = m.machine.startsWith('doublebarrier-') ? 'inside' : m.machine.startsWith('shards-') ? 'shards owned' : RIGHTS.name; // a barrier gives no right
  /** @param {Span} s @param {string} layer @param {{y: number, h: number}} at @param {(string | undefined)[]} texts the first that has room is shown */
  const label = (s, layer, at, ...texts) => {
    const box = clip(l, view, s.from, s.to || end), text = box && texts.find(t => t && box.w > t.length * 6.4 + 8);
    if (box && text) out.push({ tag: 'text', layer: `in-${layer}`, x: box.x + 6, y: y + at.y + at.h / 2 + 4, text });
  };
  /** @param {Span} s @param {string} layer @param {{y: number, h: number}} at @param {(string | undefined)[]} texts */
  const bar = (s, layer, at, ...texts) => {
    const box = clip(l, view, s.from, s.to || end);
    if (!box || seen.has(layer, box)) return;
    out.push({ tag: 'rect', layer, x: box.x, y: y + at.y, w: box.w, h: at.h, title: cut(`${s.text ?? ''} (${duration((s.to || end) - s.from)})`, 400), key: s.record ? `${client.name}.${s.record}` : undefined });
    label(s, layer, at, ...texts);
  };
  const whole = { y: 3, h: l.lane - 8 };
  for (const s of client.gaps) bar(s, 'gap', whole, 'records missing');
  const pauses = joined(client.pauses);
  for (const s of pauses) bar(s, 'pause', whole);
  if (l.at.link) for (const s of client.connected) bar(s, 'link', l.at.link);
  for (const s of m.nodes) bar(s, s.to ? 'node' : 'node open', l.at.node);
  if (l.rows) m = { ...m, right: [], heard: [], work: [] }; // shardShapes draws those of a member
  for (const s of m.heard) bar(s, 'told', l.at.told);
  for (const s of m.inside ?? []) bar(s, 'inside', l.at.right, s.text);
  m.right.forEach((s, n) => {
    // Cut off: the log does not have its end.
    const cutOff = client.cut && m.heard[n]?.to === 0 && s.to > end;
    bar(cutOff ? { ...s, to: end } : s, 'right', l.at.right, s.text);
    if (cutOff) bar({ ...s, from: end, text: `${s.text ?? ''}, at most: the log ends before` }, 'right maybe', l.at.right, 'at most');
  });
  m.heard.forEach((told, n) => {
    const right = m.right[n], late = right && told.to && told.to - right.to > 2e4;
    if (late) bar({ from: right.to, to: told.to, record: told.record, text: 'no right to believe, and the work was not told yet' }, 'late', l.at.told, `work not told yet, for ${duration(told.to - right.to)}`, 'not told yet', 'not told');
    label(late ? { from: told.from, to: right.to } : told, 'told', l.at.told, 'work told that it leads', 'work told', 'told');
  });
  for (const s of m.work) bar(s, 'work', l.at.told, cut(s.text ?? '', 60));
  for (const s of pauses) {
    const box = clip(l, view, s.from, s.to);
    if (box && box.w > 60) out.push({ tag: 'text', layer: 'in-pause', x: box.x + 6, y: y + l.lane - 8, text: 'did not run' });
  }
  ticks(out, l, i, m, records, view);
  if (l.narrow) {
    const who = fit(m.who, view.width * 0.4, 15);
    out.push({ tag: 'text', layer: 'who', x: 12, y: y + 17, text: who, title }, { tag: 'text', layer: 'sub', x: 20 + view.width * 0.4, y: y + 16, text: fit(sub, view.width * 0.25, 11) });
  } else {
    out.push({ tag: 'text', layer: 'who', x: 10, y: y + 22, text: fit(m.who, 108, 15), title }, { tag: 'text', layer: 'sub', x: 10, y: y + 38, text: fit(sub, 108, 11) });
    for (const layer of LAYERS) out.push({ tag: 'text', layer: 'layer-name', x: l.left - 8, y: y + layer.y + layer.h / 2 + 3.5, text: layer === RIGHTS ? top : layer.name });
  }
  if (client.cut && end >= view.from && end <= view.to) out.push({ tag: 'text', ...edge(l.x(end), view.width), y: y + (l.narrow ? l.at.told.y + 10 : l.lane - 14), text: '✕ log ends', title: 'the log ends without a close' });
}

/**
 * Where the mark of a log's end has room: right of it, or else left.
 * @param {number} x
 * @param {number} width
 */
function edge(x, width) { return x + 74 < width ? { layer: 'ended', x: x + 4 } : { layer: 'ended left', x: x - 4 }; }

/**
 * A log's name without the time stamp of its run.
 * @param {string} name
 */
function nameless(name) { return name.replace(/(^|\/)\d{8}T[\d.]+Z-?/, '$1'); }

/**
 * Spans that overlap as one: two timers may notice the same pause.
 * @param {Span[]} spans
 */
export function joined(spans) {
  /** @type {Span[]} */
  const out = [];
  for (const s of [...spans].sort((a, b) => a.from - b.from)) {
    const last = out[out.length - 1];
    if (last && s.from <= last.to) last.to = Math.max(last.to, s.to);
    else out.push({ ...s });
  }
  return out;
}

/**
 * Marks of records: high ones for changes of state. At most one for each pixel.
 * @param {Shape[]} out
 * @param {Layout} l
 * @param {number} i
 * @param {import('./types.js').Participant} m
 * @param {Rec[]} records
 * @param {View} view
 */
function ticks(out, l, i, m, records, view) {
  if (!l.at.ticks) return;
  const { h } = l.at.ticks, y = l.top(i) + l.at.ticks.y, own = new Set(machinesOf(m));
  let low = '', high = '', lastLow = -9, lastHigh = -9;
  for (let n = firstAt(records, view.from); n < records.length && records[n].t <= view.to; n++) {
    const r = records[n], x = l.x(r.t);
    if (own.has(r.machine) && r.from !== r.to) {
      if (x - lastHigh >= 1) high += `M${x.toFixed(1)} ${y}v${h}`, lastHigh = x;
    } else if (x - lastLow >= 2) low += `M${x.toFixed(1)} ${y + 7}v5`, lastLow = x;
  }
  if (low) out.push({ tag: 'path', layer: 'tick', d: low });
  if (high) out.push({ tag: 'path', layer: 'tick moved', d: high });
}

/**
 * The index of the first record at or after a time.
 * @param {Rec[]} records
 * @param {number} t
 */
export function firstAt(records, t) {
  let lo = 0, hi = records.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (records[mid].t < t) lo = mid + 1; else hi = mid;
  }
  return lo;
}

/** The signs of transactions. */
const SIGNS = new Map([['create', '+'], ['delete', '−'], ['expired', '✕'], ['closed', '◂'], ['opened', '▸'], ['set', '=']]);

/**
 * The ensemble's lane: each transaction by its zxid. One that only replies show is a bracket: between the request and the answer.
 * @param {Shape[]} out
 * @param {Layout} l
 * @param {Picture} picture
 * @param {View} view
 */
function ensemble(out, l, picture, view) {
  const y = l.bottom;
  out.push({ tag: 'rect', layer: 'lane ensemble', x: 0, y, w: view.width, h: 60 });
  out.push({ tag: 'text', layer: 'who', x: l.narrow ? 12 : 10, y: y + (l.narrow ? 17 : 22), text: 'ensemble' });
  if (!l.narrow) out.push({ tag: 'text', layer: 'sub', x: 10, y: y + 38, text: picture.txns.some(x => x.exact) ? 'its own log' : 'by replies' });
  const points = y + (l.narrow ? 29 : 12);
  const seen = new Seen();
  let lastX = -9;
  /** @type {{x: number, label: string, title: string, key: string, important: boolean}[]} */
  const labels = [];
  for (const t of picture.txns) {
    const x = l.x((t.from + t.to) / 2);
    if (t.to < view.from || t.from > view.to) continue;
    const key = `@${t.zxid}`, title = cut(`zxid ${t.zxid}: ${t.text}`, 400), important = t.kind === 'expired' || t.kind === 'delete';
    if (important ? seen.has(t.kind, { x, w: 0 }) : x - lastX < 2) continue;
    lastX = x;
    const [a, b] = [l.x(t.from), l.x(t.to)];
    if (!t.exact && b - a > 4) out.push({ tag: 'path', layer: 'bracket', d: `M${a.toFixed(1)} ${points - 6}v12m0 -6H${b.toFixed(1)}m0 -6v12` });
    out.push({ tag: 'circle', layer: `txn ${t.kind}`, x, y: points, w: 5, title, key });
    labels.push({ x, label: `${SIGNS.get(t.kind) ?? ''} ${t.zxid}`, title, key, important });
  }
  place(out, labels, view, points + 22);
}

/**
 * Labels of transactions, right of their points, as far as they have room: those that ended a node first.
 * @param {Shape[]} out
 * @param {{x: number, label: string, title: string, key: string, important: boolean}[]} labels
 * @param {View} view
 * @param {number} y
 */
function place(out, labels, view, y) {
  /** @type {[number, number][]} */
  const taken = [];
  for (const { x, label, title, key } of [...labels.filter(t => t.important), ...labels.filter(t => !t.important)]) {
    const width = label.length * 6.2 + 6, from = x + 3;
    if (from + width > view.width || taken.some(([a, b]) => from < b && from + width > a)) continue;
    taken.push([from, from + width]);
    out.push({ tag: 'text', layer: 'zxid', x: from, y, text: label, title, key });
  }
}

/**
 * The arrows of a chain of causes, across lanes, and a mark at each of its items: four shapes at most, however long it is.
 * @param {Picture} picture
 * @param {Layout} l
 * @param {View} view
 * @param {import('./types.js').Step[]} chain
 * @returns {Shape[]}
 */
export function chainShapes(picture, l, view, chain) {
  // Heartbeats lead from one to the next, and say nothing.
  const points = chain.filter(({ item }, i) => i === 0 || !('seq' in item && item.beat)).map(({ item }) => {
    if (!('seq' in item)) return { x: l.x((item.from + item.to) / 2), y: l.bottom + (l.narrow ? 29 : 12), lane: l.lanes.length };
    const n = laneOf(l, picture, item);
    return { x: l.x(item.t), y: n < 0 ? l.bottom : l.top(n) + (l.at.ticks?.y ?? l.at.node.y) + 6, lane: n };
  });
  /** @param {{x: number}} p */
  const inside = p => p.x >= l.left && p.x <= view.width;
  /** @type {Set<string>} */
  const arrows = new Set(), marks = new Set();
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i], points[i - 1]];
    if (inside(a)) marks.add(disc(a, 3.5));
    if (Math.max(a.x, b.x) < l.left || Math.min(a.x, b.x) > view.width) continue;
    const lift = a.lane === b.lane ? -16 : 0, mid = (a.x + b.x) / 2;
    arrows.add(`M${Math.max(l.left, a.x).toFixed(1)} ${a.y}C${mid.toFixed(1)} ${a.y + lift} ${mid.toFixed(1)} ${b.y + lift} ${b.x.toFixed(1)} ${b.y}`);
  }
  /** @type {Shape[]} */
  const out = [], [first] = points;
  if (first && inside(first)) out.push({ tag: 'path', layer: 'cursor', d: `M${first.x.toFixed(1)} 18V${l.bottom + 40}` });
  if (arrows.size) out.push({ tag: 'path', layer: 'cause', d: [...arrows].join('') });
  if (marks.size) out.push({ tag: 'path', layer: 'point', d: [...marks].join('') });
  if (first && inside(first)) out.push({ tag: 'circle', layer: 'point selected', x: first.x, y: first.y, w: 5 });
  return out;
}

/**
 * A disc as a part of a path.
 * @param {{x: number, y: number}} middle
 * @param {number} r
 */
function disc({ x, y }, r) { return `M${(x - r).toFixed(1)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
