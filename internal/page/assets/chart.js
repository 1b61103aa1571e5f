// The chart of the selected record's machine, with its state and arrow lit.
import './types.js';
import { litBy, lightArrows } from './model.js';
import { byId, say } from './dom.js';

/** @typedef {import('./types.js').Rec} Rec */
/**
 * A chart that was loaded: its drawing, the groups of it that are lit, and where they are. It is kept, since the records of several
 * machines take turns.
 * @typedef {object} Drawing
 * @property {SVGSVGElement} svg
 * @property {number} width
 * @property {number} height
 * @property {SVGGElement[]} states
 * @property {SVGGElement[]} arrows
 * @property {{from: string[], to: string, rows: string[]}[]} ends of the arrows
 * @property {Map<SVGGElement, DOMRect>} boxes
 */

export class Chart {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Map<string, Drawing>} */
    this.drawings = new Map();
    /** @type {Drawing | undefined} */
    this.drawing = undefined;
    this.panel = byId('chart-box');
    this.title = byId('chart-title');
    this.box = byId('chart');
    this.note = byId('chart-note');
    this.whole = /** @type {HTMLInputElement} */ (byId('whole'));
    this.whole.addEventListener('change', () => this.crop());
  }

  /**
   * Shows what a record did.
   * @param {Rec | undefined} rec
   */
  show(rec) {
    const lit = rec && { ...litBy(rec), to: this.model.stateAt(rec.log, rec.machine, rec.seq) }, source = lit && Object.hasOwn(this.model.charts, lit.recipe) ? this.model.charts[lit.recipe] : undefined;
    this.panel.hidden = source === undefined;
    if (!rec || !lit || source === undefined) return;
    const drawing = this.put(source), old = this.model.otherCharts.get(rec.log)?.includes(lit.recipe);
    say(this.title, `Chart of ${rec.machine}: ${lit.to || 'not begun'}`);
    say(this.note, [rec.row ? `row “${rec.row}”` : '', rec.tried.length ? `guards that did not hold: ${rec.tried.join(', ')}` : '', old ? 'the log was written with another version of this chart' : ''].filter(s => s).join('; '));
    for (const g of drawing.states) nameGroup(g, g.dataset.state === lit.to ? 'lit' : g.dataset.state === lit.from ? 'left' : '');
    lightArrows(lit, drawing.ends).forEach((how, i) => nameGroup(drawing.arrows[i], how));
    this.crop();
  }

  /**
   * Puts a drawing into the page, and measures it when it is there for the first time.
   * @param {string} source
   */
  put(source) {
    const drawing = this.drawings.get(source) ?? loadDrawing(source);
    this.drawings.set(source, drawing);
    if (this.drawing !== drawing) {
      this.drawing = drawing;
      this.box.replaceChildren(drawing.svg);
    }
    if (drawing.boxes.size === 0 && drawing.svg.getClientRects().length > 0) {
      for (const g of [...drawing.states, ...drawing.arrows]) drawing.boxes.set(g, g.getBBox());
    }
    return drawing;
  }

  /**
   * The bounds of what has one of these names, with a little air.
   * @param {Drawing} drawing
   * @param {string[]} names
   */
  around(drawing, names) {
    /** @type {DOMRect[]} */
    const boxes = [];
    for (const [g, box] of drawing.boxes) if (names.includes(g.getAttribute('class') ?? '')) boxes.push(box);
    return boxes.length ? {
      left: Math.min(...boxes.map(b => b.x)) - 30, top: Math.min(...boxes.map(b => b.y)) - 40,
      right: Math.max(...boxes.map(b => b.x + b.width)) + 30, bottom: Math.max(...boxes.map(b => b.y + b.height)) + 40,
    } : undefined;
  }

  /** Shows the lit part and what is around it, without what was tried far away; or all of it. */
  crop() {
    const { drawing } = this;
    if (!drawing) return;
    let x = 0, y = 0, { width, height } = drawing;
    const near = this.around(drawing, ['lit', 'left', 'tried']), box = near && near.right - near.left < 900 && near.bottom - near.top < 700 ? near : this.around(drawing, ['lit', 'left']) ?? near;
    if (!this.whole.checked && box) {
      const { left, top, right, bottom } = box;
      width = Math.min(drawing.width, Math.max(right - left, 620));
      height = Math.min(drawing.height, Math.max(bottom - top, 320));
      x = Math.max(0, Math.min((left + right - width) / 2, drawing.width - width));
      y = Math.max(0, Math.min((top + bottom - height) / 2, drawing.height - height));
    }
    const view = `${x} ${y} ${width} ${height}`;
    if (drawing.svg.getAttribute('viewBox') !== view) drawing.svg.setAttribute('viewBox', view);
  }
}

/**
 * Gives a group a class, if it has another one.
 * @param {SVGGElement} g
 * @param {string} how
 */
function nameGroup(g, how) {
  if ((g.getAttribute('class') ?? '') !== how) g.setAttribute('class', how);
}

/**
 * @param {string} source a picture that package drawing made of a chart of this program
 * @returns {Drawing}
 */
function loadDrawing(source) {
  const parsed = new DOMParser().parseFromString(source, 'image/svg+xml').documentElement;
  const width = Number(parsed.getAttribute('width')), height = Number(parsed.getAttribute('height'));
  const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(parsed, true)));
  svg.removeAttribute('width');
  svg.removeAttribute('height');
  const states = [.../** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll('g[data-state]'))], arrows = [.../** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll('g[data-rows]'))];
  const ends = arrows.map(g => ({ from: (g.dataset.from ?? '').split(' '), to: g.dataset.to ?? '', rows: (g.dataset.rows ?? '').split('|') }));
  return { svg, width, height, states, arrows, ends, boxes: new Map() };
}
