// The list of records: only the lines that can be seen are in the page. A line that stays is not made again.
import './types.js';
import { foldHeartbeats, lineOf, lineText, parseFilter } from './filter.js';
import { clockText, duration } from './picture.js';
import { byId, element, say } from './dom.js';

/** @typedef {import('./types.js').Rec} Rec */

const ROW = 21;

export class List {
  /**
   * @param {import('./model.js').Model} model
   * @param {(rec: Rec) => void} select
   */
  constructor(model, select) {
    this.model = model;
    this.select = select;
    this.box = byId('list');
    this.rows = byId('list-rows');
    this.count = byId('count');
    this.input = /** @type {HTMLInputElement} */ (byId('filter'));
    /** @type {Rec[]} */
    this.kept = [];
    /** @type {import('./filter.js').Line[]} */
    this.lines = [];
    /** @type {Set<number>} */
    this.open = new Set();
    /** @type {Rec | undefined} */
    this.current = undefined;
    /** @type {Set<Rec>} */
    this.causes = new Set();
    /** The line of the selected record, -1 if it has none. */
    this.at = -1;
    /** @type {Map<number, HTMLElement>} the lines that are in the page */
    this.drawn = new Map();
    // Where the list is scrolled to, and how high it is: to ask the browser would make it lay out the page within a step.
    this.top = this.box.scrollTop;
    this.high = this.box.clientHeight;
    this.box.addEventListener('scroll', () => { this.top = this.box.scrollTop; this.draw(); });
    new ResizeObserver(() => { this.high = this.box.clientHeight; this.draw(); }).observe(this.box);
    this.rows.addEventListener('click', event => this.click(event));
    this.input.addEventListener('input', () => this.filter());
  }

  /**
   * Lists another model's records from now on.
   * @param {import('./model.js').Model} model
   */
  use(model) {
    this.model = model;
    this.open.clear();
    this.current = undefined;
    this.causes.clear();
  }

  /** Applies the filter again. */
  filter() {
    const { keep, error } = parseFilter(this.input.value);
    say(byId('filter-error'), error);
    this.kept = error ? [] : this.input.value.trim() ? this.model.all.filter(keep) : this.model.all;
    this.fold();
  }

  fold() {
    this.lines = foldHeartbeats(this.kept, this.open);
    this.at = this.current ? lineOf(this.lines, this.current) : -1;
    this.drawn.clear();
    this.rows.replaceChildren();
    this.rows.style.height = `${this.lines.length * ROW}px`;
    this.top = Math.max(0, Math.min(this.top, this.lines.length * ROW - this.high));
    say(this.count, this.kept.length === this.model.all.length ? `${this.kept.length}` : `${this.kept.length} of ${this.model.all.length}`);
    this.draw();
  }

  /**
   * Marks a record and its causes, and scrolls to it.
   * @param {Rec | undefined} rec
   * @param {Rec[]} causes
   */
  show(rec, causes) {
    this.current = rec;
    this.causes = new Set(causes);
    this.at = rec ? lineOf(this.lines, rec) : -1;
    const top = this.at * ROW;
    if (this.at >= 0 && (top < this.top || top > this.top + this.high - ROW)) {
      this.box.scrollTop = top - this.high / 2;
      this.top = this.box.scrollTop;
    }
    this.draw();
  }

  /**
   * The record so many places further among those that are listed.
   * @param {number} by
   */
  step(by) {
    if (!this.current) return this.kept[0];
    let lo = 0, hi = this.kept.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.kept[mid].i < this.current.i) lo = mid + 1; else hi = mid;
    }
    const here = this.kept[lo] === this.current || by < 0 ? lo : lo - 1;
    return this.kept[Math.max(0, Math.min(this.kept.length - 1, here + by))];
  }

  /** Makes the lines that came into sight, drops those that left it, and marks what is selected. */
  draw() {
    const from = Math.max(0, Math.floor(this.top / ROW) - 4), to = Math.min(this.lines.length, from + Math.ceil(this.high / ROW) + 8);
    for (const [n, e] of this.drawn) {
      if (n >= from && n < to) continue;
      e.remove();
      this.drawn.delete(n);
    }
    let after = null;
    for (let n = to - 1; n >= from; n--) {
      const known = this.drawn.get(n), e = known ?? this.line(this.lines[n], n);
      if (!known) {
        this.drawn.set(n, e);
        this.rows.insertBefore(e, after);
      }
      this.mark(e, n);
      after = e;
    }
  }

  /**
   * @param {import('./filter.js').Line} line
   * @param {number} n
   */
  line(line, n) {
    const e = element('div', 'row');
    e.style.top = `${n * ROW}px`;
    e.dataset.n = String(n);
    if (line.fold) {
      const first = line.fold[0], last = line.fold[line.fold.length - 1];
      e.classList.add('fold');
      say(e, `${clockText(first.t)}  ${line.fold.length} records of heartbeats, over ${duration(last.t - first.t)}`);
      return e;
    }
    const rec = line.rec;
    e.append(element('time', '', clockText(rec.t)), element('span', rec.from === rec.to ? '' : 'moved', lineText(rec).slice(0, 600)));
    e.setAttribute('role', 'option');
    return e;
  }

  /**
   * Marks a line, if it is the selected one or one of its causes.
   * @param {HTMLElement} e
   * @param {number} n
   */
  mark(e, n) {
    const { rec } = this.lines[n], selected = n === this.at;
    if (rec && selected !== e.classList.contains('selected')) e.ariaSelected = selected ? 'true' : null;
    e.classList.toggle('selected', selected);
    e.classList.toggle('cause', rec !== undefined && this.causes.has(rec));
  }

  /**
   * Selects the record of a line, or opens what is folded in it.
   * @param {MouseEvent} event
   */
  click(event) {
    const row = event.target instanceof Element ? event.target.closest('.row') : null, line = row instanceof HTMLElement ? this.lines[Number(row.dataset.n)] : undefined;
    if (line?.fold) {
      this.open.add(line.fold[0].i);
      this.fold();
    } else if (line) this.select(line.rec);
  }
}
