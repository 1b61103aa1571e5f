// The chart of the selected record's machine, with its state and arrow lit.
import './types.js';
import { litBy, lightArrows } from './model.js';
import { byId, say } from './dom.js';

/** @typedef {import('./types.js').Rec} Rec */

export class Chart {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.recipe = '';
    this.box = byId('chart');
    this.note = byId('chart-note');
    this.whole = /** @type {HTMLInputElement} */ (byId('whole'));
    this.size = { width: 0, height: 0 };
    this.whole.addEventListener('change', () => this.crop());
  }

  /**
   * Shows what a record did.
   * @param {Rec | undefined} rec
   */
  show(rec) {
    const lit = rec && { ...litBy(rec), to: this.model.stateAt(rec.log, rec.machine, rec.seq) }, source = lit && Object.hasOwn(this.model.charts, lit.recipe) ? this.model.charts[lit.recipe] : undefined;
    byId('chart-box').hidden = source === undefined;
    if (!rec || !lit || source === undefined) return;
    if (this.recipe !== lit.recipe) this.load(lit.recipe, source);
    const old = this.model.otherCharts.get(rec.log)?.includes(lit.recipe);
    say(byId('chart-title'), `Chart of ${rec.machine}: ${lit.to || 'not begun'}`);
    say(this.note, [rec.row ? `row “${rec.row}”` : '', rec.tried.length ? `guards that did not hold: ${rec.tried.join(', ')}` : '', old ? 'the log was written with another version of this chart' : ''].filter(s => s).join('; '));
    for (const g of this.states()) g.setAttribute('class', g.dataset.state === lit.to ? 'lit' : g.dataset.state === lit.from ? 'left' : '');
    const arrows = this.arrows();
    lightArrows(lit, arrows.map(g => ({ from: (g.dataset.from ?? '').split(' '), to: g.dataset.to ?? '', rows: (g.dataset.rows ?? '').split('|') })))
      .forEach((name, i) => arrows[i].setAttribute('class', name));
    this.crop();
  }

  states() { return /** @type {NodeListOf<SVGGElement>} */ (this.box.querySelectorAll('g[data-state]')); }

  arrows() { return [.../** @type {NodeListOf<SVGGElement>} */ (this.box.querySelectorAll('g[data-rows]'))]; }

  /**
   * @param {string} recipe
   * @param {string} source a picture that package drawing made of a chart of this program
   */
  load(recipe, source) {
    this.recipe = recipe;
    const parsed = new DOMParser().parseFromString(source, 'image/svg+xml').documentElement;
    this.size = { width: Number(parsed.getAttribute('width')), height: Number(parsed.getAttribute('height')) };
    this.box.replaceChildren(document.importNode(parsed, true));
  }

  /**
   * The bounds of what is drawn like this, with a little air.
   * @param {string} selector
   */
  around(selector) {
    const boxes = [.../** @type {NodeListOf<SVGGElement>} */ (this.box.querySelectorAll(selector))].map(g => g.getBBox());
    return boxes.length ? {
      left: Math.min(...boxes.map(b => b.x)) - 30, top: Math.min(...boxes.map(b => b.y)) - 40,
      right: Math.max(...boxes.map(b => b.x + b.width)) + 30, bottom: Math.max(...boxes.map(b => b.y + b.height)) + 40,
    } : undefined;
  }

  /** Shows the lit part and what is around it, without what was tried far away; or all of it. */
  crop() {
    const svg = this.box.querySelector('svg');
    if (!svg) return;
    let x = 0, y = 0, { width, height } = this.size;
    const near = this.around('g.lit, g.left, g.tried'), box = near && near.right - near.left < 900 && near.bottom - near.top < 700 ? near : this.around('g.lit, g.left') ?? near;
    if (!this.whole.checked && box) {
      const { left, top, right, bottom } = box;
      width = Math.min(this.size.width, Math.max(right - left, 620));
      height = Math.min(this.size.height, Math.max(bottom - top, 320));
      x = Math.max(0, Math.min((left + right - width) / 2, this.size.width - width));
      y = Math.max(0, Math.min((top + bottom - height) / 2, this.size.height - height));
    }
    svg.setAttribute('viewBox', `${x} ${y} ${width} ${height}`);
    svg.removeAttribute('width');
    svg.removeAttribute('height');
  }
}
