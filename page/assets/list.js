// The list of records: only the lines that can be seen are in the page.
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
    this.box.addEventListener('scroll', () => this.draw());
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
    this.kept = error ? [] : this.model.all.filter(keep);
    this.fold();
  }

  fold() {
    this.lines = foldHeartbeats(this.kept, this.open);
    say(byId('count'), this.kept.length === this.model.all.length ? `${this.kept.length}` : `${this.kept.length} of ${this.model.all.length}`);
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
    if (rec) {
      const n = lineOf(this.lines, rec), top = n * ROW;
      if (n >= 0 && (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - ROW)) this.box.scrollTop = top - this.box.clientHeight / 2;
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

  draw() {
    const from = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 4), to = Math.min(this.lines.length, from + Math.ceil(this.box.clientHeight / ROW) + 8);
    this.rows.style.height = `${this.lines.length * ROW}px`;
    const drawn = [];
    for (let n = from; n < to; n++) drawn.push(this.line(this.lines[n], n));
    this.rows.replaceChildren(...drawn);
  }

  /**
   * @param {import('./filter.js').Line} line
   * @param {number} n
   */
  line(line, n) {
    const e = element('div', 'row');
    e.style.top = `${n * ROW}px`;
    if (line.fold) {
      const first = line.fold[0], last = line.fold[line.fold.length - 1];
      e.classList.add('fold');
      say(e, `${clockText(first.t)}  ${line.fold.length} records of heartbeats, over ${duration(last.t - first.t)}`);
      if (this.current && line.fold.includes(this.current)) e.classList.add('selected');
      e.addEventListener('click', () => { this.open.add(first.i); this.fold(); });
      return e;
    }
    const rec = line.rec;
    e.append(element('time', '', clockText(rec.t)), element('span', rec.from === rec.to ? '' : 'moved', lineText(rec).slice(0, 600)));
    e.setAttribute('role', 'option');
    if (rec === this.current) { e.classList.add('selected'); e.setAttribute('aria-selected', 'true'); }
    if (this.causes.has(rec)) e.classList.add('cause');
    e.addEventListener('click', () => this.select(rec));
    return e;
  }
}
