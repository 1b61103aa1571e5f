// What a playground adds to the lanes, as shapes: deeds, broken promises, a ghost of the world before, where participants part from
// it, what is after the cursor; and the servers. It knows no browser and draws nothing.
import './types.js';
import './answers.js';
import { cut, duration } from './picture.js';

/** @typedef {import('./picture.js').Shape} Shape */
/** @typedef {import('./picture.js').Layout} Layout */
/** @typedef {import('./picture.js').View} PartOfTime */
/** @typedef {import('./types.js').Picture} Picture */
/** @typedef {import('./types.js').Span} Span */
/** @typedef {import('./known.js').Standing} Standing */
/** @typedef {import('./answers.js').Answer} Answer */

/** Pixels of a letter, at least. */
const LETTER = 6.3;

/**
 * The lane of a participant, -1 for none.
 * @param {Layout} l
 * @param {Picture} picture
 * @param {string} name
 */
function laneNamed(l, picture, name) { return l.lanes.findIndex(m => picture.logs[m.log].name === name); }

/**
 * A path down at a time; undefined where the view does not reach.
 * @param {Layout} l
 * @param {PartOfTime} view
 * @param {number} t
 * @param {number} from
 * @param {number} to
 */
function down(l, view, t, from, to) {
  return t < view.from || t > view.to ? undefined : `M${l.x(t).toFixed(1)} ${from}V${to}`;
}

/**
 * All that is added to the lanes.
 * @param {Answer} a
 * @param {Layout} l
 * @param {Picture} picture
 * @param {PartOfTime} view
 * @param {{cursor: number, ghost?: Picture, second?: Standing[], focus: string}} o
 * @returns {{behind: Shape[], before: Shape[]}}
 */
export function marks(a, l, picture, view, o) {
  /** @type {{behind: Shape[], before: Shape[]}} */
  const { behind, before } = { behind: [], before: [] }, focus = laneNamed(l, picture, o.focus);
  if (focus >= 0) behind.push({ tag: 'rect', layer: 'focus', x: 1, y: l.top(focus) + 1, w: view.width - 2, h: (l.lane - 4) });
  if (o.cursor < view.to) {
    const x = Math.max(l.left, l.x(o.cursor));
    behind.push({ tag: 'rect', layer: 'veil', x, y: 18, w: Math.max(0, view.width - x), h: l.height - 18 });
  }
  if (o.ghost) ghosts(behind, o.ghost, l, picture, view);
  for (const s of o.second ?? []) {
    const i = laneNamed(l, picture, s.name), from = Math.max(l.left, l.x(s.span.from)), to = Math.min(view.width - 4, l.x(a.now));
    if (i < 0 || s.span.from > view.to || a.now < view.from || view.line !== '' && s.line !== view.line) continue;
    behind.push({ tag: 'rect', layer: 'node second', x: from, y: l.top(i) + l.at.node.y + 11, w: Math.max(1.5, to - from), h: 9, title: cut(`a second node: ${s.span.text}`, 300) });
    before.push({ tag: 'text', layer: 'second', x: from + 6, y: l.top(i) + l.at.node.y + 19.5, text: 'a second node stands' });
  }
  partings(before, a, l, picture, view);
  breaches(before, a, l, picture, view);
  deedMarks(before, a, l, picture, view);
  const d = down(l, view, o.cursor, 18, l.height - 4);
  if (d) before.push({ tag: 'path', layer: 'now', d });
  return { behind, before };
}

/**
 * The world before, as thin bars: who might believe, and whose node stood.
 * @param {Shape[]} out
 * @param {Picture} ghost
 * @param {Layout} l
 * @param {Picture} picture
 * @param {PartOfTime} view
 */
function ghosts(out, ghost, l, picture, view) {
  for (const m of ghost.machines) {
    if (view.line !== '' && m.line !== view.line) continue;
    const i = laneNamed(l, picture, ghost.logs[m.log].name);
    if (i < 0) continue;
    const bars = (/** @type {Span[]} */ spans, /** @type {number} */ y, /** @type {number} */ h, /** @type {string} */ what) => {
      for (const s of spans) {
        const to = s.to || view.to;
        if (to < view.from || s.from > view.to) continue;
        const x = Math.max(l.left, l.x(s.from)), end = Math.min(view.width - 4, l.x(to));
        out.push({ tag: 'rect', layer: 'ghost', x, y: l.top(i) + y, w: Math.max(1.5, end - x), h, title: cut(`${what} ${s.text ?? ''}`, 200) });
      }
    };
    bars(m.right, l.at.right.y - 6.5, 5, 'in the other world it may believe:');
    bars(m.inside ?? [], l.at.right.y - 6.5, 5, 'in the other world:');
    bars(m.nodes, l.at.node.y + 10.5, 3, 'in the other world its node stands:');
  }
}

/**
 * Where participants part from the world before.
 * @param {Shape[]} out
 * @param {Answer} a
 * @param {Layout} l
 * @param {Picture} picture
 * @param {PartOfTime} view
 */
function partings(out, a, l, picture, view) {
  for (const p of a.before?.parts ?? []) {
    const i = laneNamed(l, picture, p.name), d = p.at > 0 && i >= 0 ? down(l, view, p.at, l.top(i), l.top(i) + (l.lane - 4)) : undefined;
    if (d === undefined) continue;
    const key = p.seq ? `${p.name}.${p.seq}` : undefined;
    out.push({ tag: 'path', layer: 'parting', d, key, title: `${p.name} parts from the world before` });
    out.push({ tag: 'text', layer: 'parting', x: l.x(p.at) + 4, y: l.top(i) + l.lane - 7, text: 'parts here', key });
  }
}

/**
 * Promises where they break. What breaks at one place has one text.
 * @param {Shape[]} out
 * @param {Answer} a
 * @param {Layout} l
 * @param {Picture} picture
 * @param {PartOfTime} view
 */
function breaches(out, a, l, picture, view) {
  const said = new Set();
  /** @type {Label[]} */
  const labels = [];
  for (const b of a.broken) {
    const lanes = b.who.map(name => laneNamed(l, picture, name)).filter(i => i >= 0);
    const first = lanes.length ? l.top(Math.min(...lanes)) : 20, last = lanes.length ? l.top(Math.max(...lanes)) + (l.lane - 4) : l.bottom;
    const d = down(l, view, b.at, first, Math.max(last, l.bottom + 44));
    const place = d === undefined ? '' : `${l.x(b.at).toFixed(0)} ${b.promise}`;
    if (d === undefined || said.has(place)) continue;
    said.add(place);
    out.push({ tag: 'path', layer: 'breach', d, title: cut(`${b.promise} is broken: ${b.text}`, 400) });
    label(labels, l.x(b.at) + 4, `✕ ${b.promise}`);
  }
  writeLabels(out, labels, l, view, 'breach', l.bottom + 54);
}

/** @typedef {{x: number, text: string}} Label */

/**
 * Adds a text at a place, or to the one that is there. What is said there is not said again.
 * @param {Label[]} labels
 * @param {number} x
 * @param {string} text
 */
function label(labels, x, text) {
  const last = labels[labels.length - 1];
  if (!last || x >= last.x + last.text.length * LETTER + 10) labels.push({ x, text });
  else if (!last.text.split(', ').includes(text)) last.text += `, ${text}`;
}

/**
 * @param {Shape[]} out
 * @param {Label[]} labels
 * @param {Layout} l
 * @param {PartOfTime} view
 * @param {string} layer
 * @param {number} y
 */
function writeLabels(out, labels, l, view, layer, y) {
  const most = Math.max(12, Math.floor((view.width - l.left) / LETTER));
  for (const { x, text } of labels) {
    const shown = cut(text, most);
    out.push({ tag: 'text', layer, x: Math.max(l.left, Math.min(x, view.width - shown.length * LETTER)), y, text: shown });
  }
}

/**
 * What was done. Deeds that are near each other share a text.
 * @param {Shape[]} out
 * @param {Answer} a
 * @param {Layout} l
 * @param {Picture} picture
 * @param {PartOfTime} view
 */
function deedMarks(out, a, l, picture, view) {
  const done = new Map(a.deeds.map(o => [o.i, o]));
  /** @type {Label[]} */
  const labels = [];
  a.script.deeds.forEach((deed, n) => {
    const i = laneNamed(l, picture, deed.target ?? ''), d = down(l, view, deed.at, 32, i >= 0 ? l.top(i) + (l.lane - 4) : l.height - 6);
    if (d === undefined) return;
    const outcome = done.get(n), how = deed.mark === '-' ? ' out' : outcome && !outcome.done ? ' nothing' : '';
    const says = deed.mark === '-' ? 'taken out' : outcome ? (outcome.done ? outcome.says : `nothing: ${outcome.why}`) : 'not yet';
    const text = `${deed.mark === '-' ? '⌫ ' : ''}${deed.verb}${deed.target ? ` ${deed.target}` : ''}`, x = l.x(deed.at);
    out.push({ tag: 'path', layer: `deed${how}`, d, title: `${text}: ${says}` });
    if (i >= 0) out.push({ tag: 'circle', layer: `deed${how}`, x, y: l.top(i) + l.at.told.y + 11, w: 4.5, title: `${text}: ${says}` });
    label(labels, x + 3, text);
  });
  writeLabels(out, labels, l, view, 'deed', 30);
}

const ROW_HIGH = 22;
/** What a server's bars say, and how high they are; those behind first, so that a leader that is isolated is seen to lead on. */
const KINDS = new Map([['isolated', 19], ['serves', 6], ['joins', 9], ['leads', 11], ['frozen', 13], ['down', 9]]);

/**
 * The servers, a row each.
 * @param {Answer} a
 * @param {Layout} l
 * @param {PartOfTime} view
 * @param {{cursor: number, target: string}} o
 * @returns {{height: number, shapes: Shape[]}}
 */
export function serverRows(a, l, view, o) {
  /** @type {Shape[]} */
  const out = [];
  a.servers.forEach((s, i) => {
    const y = i * ROW_HIGH, key = `server ${s.name}`;
    out.push({ tag: 'rect', layer: o.target === s.name ? 'lane chosen' : i % 2 ? 'lane odd' : 'lane', x: 0, y, w: view.width, h: ROW_HIGH, key });
    out.push({ tag: 'text', layer: 'who', x: 10, y: y + 16, text: s.name, key });
    out.push({ tag: 'text', layer: 'sub', x: 28, y: y + 15, text: cut([s.up ? s.role : 'down', ...s.clients].join(' '), 22), title: s.clients.join(', '), key });
    const order = [...KINDS.keys()], spans = [...s.spans].sort((x, z) => order.indexOf(x.kind) - order.indexOf(z.kind));
    for (const span of spans) {
      const to = Math.min(span.to || a.now, a.now), high = KINDS.get(span.kind) ?? 9;
      if (to < view.from || span.from > view.to) continue;
      const x = Math.max(l.left, l.x(span.from)), w = Math.max(1.5, Math.min(view.width - 4, l.x(to)) - x);
      out.push({ tag: 'rect', layer: `server ${span.kind}`, x, y: y + (ROW_HIGH - high) / 2, w, h: high, title: `${s.name}: ${span.kind} for ${duration(to - span.from)}`, key });
      if (high > 10 && w > span.kind.length * LETTER + 10) out.push({ tag: 'text', layer: `in-server ${span.kind}`, x: span.kind === 'isolated' ? x + w - span.kind.length * LETTER : x + 5, y: y + 15, text: span.kind, key });
    }
  });
  const height = a.servers.length * ROW_HIGH;
  if (o.cursor < view.to) out.push({ tag: 'rect', layer: 'veil', x: Math.max(l.left, l.x(o.cursor)), y: 0, w: Math.max(0, view.width - Math.max(l.left, l.x(o.cursor))), h: height });
  for (const deed of a.script.deeds) {
    const i = a.servers.findIndex(s => s.name === deed.target), d = i < 0 && deed.target ? undefined : down(l, view, deed.at, 0, i < 0 ? height : (i + 1) * ROW_HIGH);
    if (d !== undefined) out.push({ tag: 'path', layer: deed.mark === '-' ? 'deed out' : 'deed', d, title: deed.text });
  }
  const d = down(l, view, o.cursor, 0, height);
  if (d) out.push({ tag: 'path', layer: 'now', d });
  return { height, shapes: out };
}
