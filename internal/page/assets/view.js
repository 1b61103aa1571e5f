// The lanes, the list, the causes and the chart as one view that obeys keys and pointers. Pages may add to it.
import './types.js';
import { Model, isRecord, keyOf, lastUntil, timeOf } from './model.js';
import { chainShapes, clockText, firstAt, layout, laneOf, machinesOf, shapes } from './picture.js';
import { byId, element, paint, patterns, say } from './dom.js';
import { Chart } from './chart.js';
import { countAt, groupOf, MOST_SHARDS } from './shards.js';
import { shardShapes } from './shardrows.js';
import { List } from './list.js';
import { itemText, markMove, sayDir, showChain, showStory, showSummary } from './story.js';
import { helpDialog } from './legend.js';

/** @typedef {import('./types.js').Rec} Rec */
/** @typedef {import('./types.js').Txn} Txn */

/**
 * What a page may add to the view. Every part may be missing.
 * @typedef {object} Hooks
 * @property {(item: Rec | Txn) => void} [selected] hears of what was selected
 * @property {(view: import('./picture.js').View) => Extra} [extra] more shapes
 * @property {() => [number, number]} [bounds] what everything is
 * @property {() => void} [taken] hears that the model has changed, before anything is drawn
 * @property {() => number} [at] the moment whose states are shown, if it is not the selected item's
 * @property {(log: string, t: number) => boolean} [gone] whether a process has ended by a moment
 * @property {() => string} [named] what to select at first
 * @property {boolean} [unfolded] logs without a part in the line have lanes, too
 * @property {() => void} [last] a step behind the last record was wanted
 * @property {Record<string, () => void>} [keys] more keys
 */
/** @typedef {{behind: import('./picture.js').Shape[], before: import('./picture.js').Shape[]}} Extra */

/** The lanes with what belongs to them: the list, the causes, the chart, and what is selected. */
export class View {
  /** @param {Hooks} [hooks] */
  constructor(hooks = {}) {
    this.hooks = hooks;
    this.model = new Model();
    this.lanes = byId('lanes');
    this.below = byId('below');
    this.above = byId('above');
    this.where = byId('where');
    /** How wide the lanes are: to ask the browser would make it lay out the page within a step. */
    this.width = this.lanes.clientWidth;
    this.edition = 0;
    this.drawn = '';
    this.line = /** @type {HTMLSelectElement} */ (byId('line'));
    this.list = new List(this.model, rec => this.go(rec));
    this.chart = new Chart(this.model);
    /** @type {[number, number]} */
    this.view = [0, 1];
    /** @type {Rec | Txn | undefined} */
    this.current = undefined;
    /** @type {import('./types.js').Step[]} the selected item and what led to it */
    this.chain = [];
    /** @type {(Rec | Txn)[]} */
    this.trail = [];
    /** @type {Map<number, HTMLElement>} */
    this.listed = new Map();
    this.move = -1;
    /** Which shards have rows: see rowsOf. */
    this.block = '';
    /** Whether logs without a part in the line have lanes, too. */
    this.unfolded = hooks.unfolded ?? false;
  }

  /**
   * Takes a document: it follows what is shown, or begins anew.
   * @param {import('./types.js').Document} doc
   * @param {boolean} [anew]
   */
  take(doc, anew) {
    const first = this.model.all.length === 0, end = this.bounds()[1], follows = first || this.view[1] >= end - 1;
    const selected = this.current && keyOf(this.current);
    if (anew) this.begin();
    this.model.add(doc);
    if (doc.dir) sayDir(doc.dir);
    this.hooks.taken?.();
    this.edition++;
    const bounds = this.bounds();
    if (first) this.view = bounds;
    else if (follows) this.view = [this.view[0] <= bounds[0] ? bounds[0] : this.view[0] + bounds[1] - end, bounds[1]];
    this.lines();
    this.story();
    this.list.filter();
    if (first) {
      // With the page's scroll bar, if it has got one.
      this.width = this.lanes.clientWidth;
      this.open();
      return;
    }
    const again = selected === undefined ? undefined : this.model.find(selected);
    if (again) { this.go(again, true); return; }
    this.chain = this.current ? this.model.chain(this.current) : [];
    this.draw();
  }

  /** Forgets the records. Charts are kept. */
  begin() {
    const charts = this.model.charts;
    this.model = new Model();
    this.model.charts = charts;
    this.list.use(this.model);
    this.chart.model = this.model;
    this.trail = [];
    this.move = -1;
  }

  /** The bounds of everything. */
  bounds() { return this.hooks.bounds?.() ?? this.model.bounds(); }

  /** Shows each line in short, and whether there is anything to show. */
  summary() {
    const { picture, all } = this.model;
    document.body.classList.toggle('empty', picture.logs.length === 0);
    showSummary(picture, all.at(-1)?.t ?? 0, this.line.value, line => this.choose(line));
  }

  /**
   * Chooses a line.
   * @param {string} line
   */
  choose(line) {
    this.line.value = line;
    this.story();
    this.blocks();
    this.move = -1;
    this.draw();
  }

  /** Offers the lines that the logs have. */
  lines() {
    const { lines, moves } = this.model.picture, chosen = this.line.value || moves[0]?.line || lines[0] || '';
    this.line.replaceChildren(...lines.map(dir => {
      const o = /** @type {HTMLOptionElement} */ (element('option', '', dir));
      o.value = dir;
      return o;
    }));
    this.line.value = chosen;
    byId('line-label').hidden = lines.length < 2;
    document.body.classList.toggle('groups', !!this.model.picture.groups?.length);
    this.blocks();
  }

  /** Offers the blocks of a group's shards, if they are too many to have rows at once. */
  blocks() {
    const select = /** @type {HTMLSelectElement | null} */ (document.getElementById('shards')), n = groupOf(this.model.picture, this.line.value)?.of.shards ?? 0, many = n > MOST_SHARDS;
    if (!select) return;
    byId('shards-label').hidden = !many;
    const firsts = many ? Array.from({ length: Math.ceil(n / MOST_SHARDS) }, (_, i) => i * MOST_SHARDS) : [];
    select.replaceChildren(...['', ...firsts].map(first => {
      const o = /** @type {HTMLOptionElement} */ (element('option', '', first === '' ? `the ${MOST_SHARDS} with most to see` : `${first}–${Math.min(n, Number(first) + MOST_SHARDS) - 1}`));
      o.value = String(first);
      return o;
    }));
    select.value = this.block;
    if (select.selectedIndex < 0) select.value = this.block = '';
  }

  /**
   * Shows other shards.
   * @param {number} by how many blocks further
   */
  nextBlock(by) {
    const select = /** @type {HTMLSelectElement | null} */ (document.getElementById('shards'));
    if (!select || select.options.length < 2) return;
    select.selectedIndex = Math.min(Math.max(0, select.selectedIndex + by), select.options.length - 1);
    this.block = select.value;
    this.draw();
  }

  /** Lists the moves of the line. */
  story() {
    this.listed = showStory(this.model.picture, this.model.names, this.line.value, key => this.goTo(key), i => this.jump(i));
    this.summary();
  }

  /** Selects what the address names, or the first loss. */
  open() {
    if (this.goTo(this.hooks.named?.() ?? '')) return;
    const mine = this.model.picture.moves.map((m, n) => ({ m, n })).filter(({ m }) => m.line === this.line.value), group = groupOf(this.model.picture, this.line.value);
    const i = (group && mine.find(({ m }) => m.two) || mine.find(({ m }) => m.cause))?.n ?? -1;
    if (i >= 0) { this.move = i; markMove(this.listed, i); this.goTo(this.key(i), true); }
    if (!this.current && this.model.all.length) this.go(this.model.all[0]);
    if (!this.current) this.draw();
  }

  /** @param {number} i */
  key(i) { const m = this.model.picture.moves[i]; return `${m.at.log}.${m.at.seq}`; }

  /**
   * Selects what a key names; false if there is no such thing.
   * @param {string} key
   * @param {boolean} [stay]
   */
  goTo(key, stay) {
    const item = this.model.find(key);
    if (item) this.go(item, stay);
    return item !== undefined;
  }

  /**
   * Selects a record or a transaction.
   * @param {Rec | Txn} item
   * @param {boolean} [stay] the view stays
   */
  go(item, stay) {
    this.current = item;
    const t = timeOf(item), [from, to] = this.view;
    if (!stay && (t < from || t > to)) this.view = [t - (to - from) / 2, t + (to - from) / 2];
    this.chain = this.model.chain(item);
    const records = this.chain.map(s => s.item).filter(isRecord);
    // The list is first, since it may scroll: nothing that was written has to be laid out for it.
    this.list.show(isRecord(item) ? item : undefined, records);
    showChain(this.chain, this.causeAt(item), key => this.goTo(key));
    this.chart.show(records[0]);
    say(this.where, `${clockText(t)} UTC  ${itemText(item).slice(0, 200)}`);
    this.hooks.selected?.(item);
    this.draw();
  }

  /**
   * The cause of the move that an item begins; "" if it begins none, or if the move has no cause.
   * @param {Rec | Txn} item
   */
  causeAt(item) {
    const { moves } = this.model.picture, key = keyOf(item), i = this.move >= 0 && this.key(this.move) === key ? this.move : moves.findIndex((_, n) => this.key(n) === key);
    return moves[i]?.cause ?? '';
  }

  /** Draws what changed: the lanes if the view did, and always the causes on them. */
  draw() {
    const view = this.asked(), { picture, logs } = this.model, l = layout(picture, view), asked = JSON.stringify([view, this.edition]);
    if (asked !== this.drawn) {
      this.drawn = asked;
      this.lanes.setAttribute('height', String(l.height));
      this.lanes.setAttribute('viewBox', `0 0 ${view.width} ${l.height}`);
      this.fold(l);
      this.below.replaceChildren(patterns(), ...shapes(picture, logs, view).map(paint), ...shardShapes(picture, l, view, this.model.all.at(-1)?.t ?? 0).map(paint));
    }
    const chain = this.current ? chainShapes(picture, l, view, this.chain) : [], extra = this.hooks.extra?.(view) ?? { behind: [], before: [] };
    this.above.replaceChildren(...[...extra.behind, ...chain, ...this.states(l), ...extra.before].map(paint));
  }

  /** @returns {import('./picture.js').View} */
  asked() { return { from: this.view[0], to: this.view[1], width: this.width || 1000, line: this.line.value, unfolded: this.unfolded, block: this.block }; }

  /**
   * Says which logs are folded, and offers to unfold them.
   * @param {import('./picture.js').Layout} l
   */
  fold(l) {
    const button = document.getElementById('unfold');
    if (!button) return;
    button.hidden = !l.folded && !this.unfolded || this.hooks.unfolded === true;
    say(button, l.folded ? `${l.folded} more ${l.folded === 1 ? 'log has' : 'logs have'} no part in ${this.line.value}: show ${l.folded === 1 ? 'it' : 'them'}` : 'fold the logs without a part in this line');
  }

  /**
   * Who has the right at the selected moment, and the state of each lane's machine. They are not the same: a stopped process is still
   * in the state in which it led.
   * @param {import('./picture.js').Layout} l
   * @returns {import('./picture.js').Shape[]}
   */
  states(l) {
    if (!this.current) return [];
    const current = this.current, t = this.hooks.at?.() ?? timeOf(current), { picture, all } = this.model, end = all[all.length - 1]?.t ?? 0;
    return l.lanes.flatMap((m, i) => {
      const { name: log, pauses } = picture.logs[m.log], exact = isRecord(current) && current.log === log && current.t === t ? current.seq : 0;
      let state = '';
      for (const name of machinesOf(m).toReversed()) {
        state = this.model.stateAt(log, name, exact || (lastUntil(this.model.byMachine.get(`${log}\n${name}`) ?? [], t)?.seq ?? 0));
        if (state) break;
      }
      const group = l.rows?.group, member = group ? group.of.members.findIndex(o => o.log === m.log && o.machine === m.machine) : -1, owns = group && member >= 0 ? countAt(group.counts[member], t) : 0;
      const has = owns > 0 || m.right.some(s => s.from <= t && (t < s.to || t === s.to && t >= end)), barrier = m.machine.startsWith('doublebarrier-'), plain = m.machine === 'session' || barrier;
      const gone = this.hooks.gone?.(log, t), ended = picture.logs[m.log].cut && t > (this.model.logs.get(log)?.at(-1)?.t ?? t), stopped = pauses.some(s => s.from <= t && t < s.to);
      const text = gone ? 'process gone' : plain ? state : m.machine.startsWith('shards-') ? owns ? `owns ${owns}` : 'owns none' : has ? 'has the right' : 'no right', more = gone || plain ? '' : ended ? 'its log has ended' : stopped ? 'did not run' : `machine: ${state}`;
      const layer = plain ? 'state' : has && !gone ? 'state yes' : 'state no';
      if (l.narrow) return [{ tag: 'text', layer: `${layer} end`, x: l.x(this.view[1]), y: l.top(i) + 17, text }];
      return [{ tag: 'text', layer, x: 10, y: l.top(i) + 58, text }, { tag: 'text', layer: 'machine', x: 10, y: l.top(i) + 73, text: state || gone ? more : '' }];
    });
  }

  /**
   * Goes to a move: the view is what is around it.
   * @param {number} i
   */
  jump(i) {
    const { moves } = this.model.picture;
    if (i < 0 || i >= moves.length) return;
    this.move = i;
    const m = moves[i], first = Math.min(m.from, m.to), last = Math.max(m.from, m.to), air = Math.max(5e5, (last - first) * 0.6);
    if (m.line !== this.line.value) {
      this.line.value = m.line;
      this.story();
    }
    this.view = [first - air, last + air];
    markMove(this.listed, i);
    if (!this.goTo(this.key(i), true)) this.draw();
  }

  /**
   * Goes to the move before or after the selected one, or before or after the selected item.
   * @param {number} by
   */
  nextMove(by) {
    const { moves } = this.model.picture, mine = moves.map((_, i) => i).filter(i => moves[i].line === this.line.value);
    const here = this.current && this.move >= 0 && this.key(this.move) === keyOf(this.current), t = this.current ? timeOf(this.current) : 0;
    const next = by > 0 ? mine.find(i => here ? i > this.move : moves[i].to > t) : mine.findLast(i => here ? i < this.move : moves[i].to < t);
    if (next !== undefined) this.jump(next);
  }

  /**
   * @param {number} factor
   * @param {number} [at] the time that stays where it is
   */
  zoom(factor, at) {
    const [from, to] = this.view, middle = at ?? (this.current ? timeOf(this.current) : (from + to) / 2);
    const span = (to - from) * factor, [first, last] = this.bounds();
    if (span < 100 || factor > 1 && span > 4 * (last - first)) return;
    const fixed = Math.min(Math.max(middle, from), to);
    this.view = [fixed - (fixed - from) * factor, fixed + (to - fixed) * factor];
    this.draw();
  }

  /** @param {number} by */
  step(by) {
    const rec = this.list.step(by);
    if (by > 0 && (!rec || rec === this.current)) this.hooks.last?.();
    if (rec) this.go(rec);
  }

  down() {
    const cause = this.current && this.model.causeOf(this.current);
    if (!this.current || !cause) return;
    this.trail.push(this.current);
    this.go(cause.item);
  }

  up() {
    if (!this.current) return;
    const before = this.trail.pop(), back = before && this.model.causeOf(before);
    if (before && back && keyOf(back.item) === keyOf(this.current)) { this.go(before); return; }
    this.trail = [];
    const result = this.model.resultOf(this.current);
    if (result) this.go(result);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const field = event.target instanceof HTMLInputElement && !['checkbox', 'range'].includes(event.target.type) || event.target instanceof HTMLSelectElement;
    if (event.key === 'Escape' && field) { event.target.blur(); return; }
    if (field || event.ctrlKey || event.metaKey || event.altKey || helpDialog().open) return;
    /** @type {Record<string, () => void>} */
    const does = {
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), ArrowDown: () => this.down(), ArrowUp: () => this.up(),
      '[': () => this.nextMove(-1), ']': () => this.nextMove(1), '+': () => this.zoom(0.6), '=': () => this.zoom(0.6), '-': () => this.zoom(1.6),
      ',': () => this.nextBlock(-1), '.': () => this.nextBlock(1), 0: () => this.everything(), '/': () => this.list.input.focus(), '?': () => helpDialog().showModal(), ...this.hooks.keys,
    };
    if (!Object.hasOwn(does, event.key)) return;
    event.preventDefault();
    does[event.key]();
  }

  everything() { this.view = this.bounds(); this.draw(); }

  /** Selects the item at a place of the lanes: the shape, or the record that is nearest in its lane.
   * @param {MouseEvent} event */
  point(event) {
    const key = event.target instanceof Element ? event.target.closest('[data-key]')?.getAttribute('data-key') : undefined;
    if (key && this.goTo(key, true)) return;
    const view = this.asked(), l = layout(this.model.picture, view), box = this.lanes.getBoundingClientRect();
    const y = event.clientY - box.top, t = l.time(event.clientX - box.left);
    if (event.clientX - box.left < l.left) return;
    const lane = l.lanes.findIndex((_, i) => y >= l.top(i) && y < l.top(i + 1)), near = lane < 0 ? this.nearestTxn(t) : this.nearestRecord(l, lane, t);
    if (near) this.go(near, true);
  }

  /** @param {number} t */
  nearestTxn(t) {
    const { txns } = this.model.picture;
    return txns.reduce((best, x) => Math.abs(x.from - t) < Math.abs(best.from - t) ? x : best, txns[0]);
  }

  /**
   * The record of a lane that is nearest to a time: of the lane's own machine if one is near.
   * @param {import('./picture.js').Layout} l
   * @param {number} lane
   * @param {number} t
   */
  nearestRecord(l, lane, t) {
    const all = this.model.logs.get(this.model.picture.logs[l.lanes[lane].log].name) ?? [], here = firstAt(all, t);
    const near = all.slice(Math.max(0, here - 50), here + 50), own = near.filter(r => laneOf(l, this.model.picture, r) === lane);
    return (own.length ? own : near).sort((a, b) => Math.abs(a.t - t) - Math.abs(b.t - t))[0];
  }

  /** Connects the page with its keys, buttons and pointers. */
  listen() {
    document.addEventListener('keydown', event => this.press(event));
    this.lanes.addEventListener('click', event => this.point(event));
    this.lanes.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) return; // scrolls the page
      event.preventDefault();
      const l = layout(this.model.picture, this.asked());
      if (event.ctrlKey) this.zoom(event.deltaY < 0 ? 0.8 : 1.25, l.time(event.clientX - this.lanes.getBoundingClientRect().left));
      else this.pan((event.deltaX || event.deltaY) * (this.view[1] - this.view[0]) / (this.lanes.clientWidth - l.left));
    }, { passive: false });
    this.line.addEventListener('change', () => this.choose(this.line.value));
    document.getElementById('shards')?.addEventListener('change', event => {
      this.block = /** @type {HTMLSelectElement} */ (event.target).value;
      this.draw();
    });
    document.getElementById('unfold')?.addEventListener('click', () => {
      this.unfolded = !this.unfolded;
      this.draw();
    });
    new ResizeObserver(() => {
      if (this.width === this.lanes.clientWidth) return;
      this.width = this.lanes.clientWidth;
      this.draw();
    }).observe(this.lanes);
    /** @type {[string, () => void][]} */
    const buttons = [['prev-move', () => this.nextMove(-1)], ['next-move', () => this.nextMove(1)], ['zoom-in', () => this.zoom(0.6)],
      ['zoom-out', () => this.zoom(1.6)], ['zoom-all', () => this.everything()], ['help-open', () => helpDialog().showModal()]];
    for (const [id, does] of buttons) byId(id).addEventListener('click', does);
  }

  /** @param {number} by */
  pan(by) { this.view = [this.view[0] + by, this.view[1] + by]; this.draw(); }
}
