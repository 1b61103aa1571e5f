// The only way of texts into the page: what a log says is always text, and what would change the direction or the order of text is
// written as its number.
import { cut } from './picture.js';

/** Controls, and marks that change the direction of text or cannot be seen. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * A text as it is shown: unseen characters as numbers, and at most so many characters.
 * @param {string} text
 * @param {number} [most]
 */
export function plain(text, most = 2000) {
  return cut(text, most).replace(UNSEEN, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The element with this id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * An element with a class and a text.
 * @param {string} tag
 * @param {string} [name]
 * @param {string} [text]
 */
export function element(tag, name = '', text = '') {
  const e = document.createElement(tag);
  if (name) e.className = name;
  if (text) e.textContent = plain(text);
  return e;
}

/**
 * Sets a text.
 * @param {Element} e
 * @param {string} text
 * @param {number} [most]
 */
export function say(e, text, most) { e.textContent = plain(text, most); }

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function drawn(tag, attributes) {
  const e = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, String(value));
  return e;
}

/** Patterns of the layers, so that colour is not needed: their name, their size, and the lines in them. */
const PATTERNS = [
  { name: 'told', size: 6, d: 'M-1 1L1 -1M0 6L6 0M5 7L7 5' },
  { name: 'late', size: 6, d: 'M0 0L6 6M6 0L0 6' },
  { name: 'work', size: 5, d: 'M2.5 0V5' },
  { name: 'node', size: 5, d: 'M1.5 2.5h1.6' },
  { name: 'pause', size: 9, d: 'M0 9L9 0' },
  { name: 'gap', size: 8, d: 'M0 4H8M4 0V8' },
  { name: 'nobody', size: 7, d: 'M0 3.5H7' },
];

/** The patterns, for a drawing. */
export function patterns() {
  const defs = drawn('defs', {});
  for (const p of PATTERNS) {
    const pattern = drawn('pattern', { id: `p-${p.name}`, width: p.size, height: p.size, patternUnits: 'userSpaceOnUse' });
    pattern.append(drawn('rect', { width: p.size, height: p.size, class: `paper ${p.name}` }), drawn('path', { d: p.d, class: `ink ${p.name}` }));
    defs.append(pattern);
  }
  return defs;
}

/**
 * Draws a shape.
 * @param {import('./picture.js').Shape} s
 */
export function paint(s) {
  /** @type {Record<string, string | number>} */
  const attributes = { class: s.layer };
  const at = (/** @type {number | undefined} */ n) => (n ?? 0).toFixed(1);
  if (s.tag === 'rect') Object.assign(attributes, { x: at(s.x), y: at(s.y), width: at(s.w), height: at(s.h) });
  if (s.tag === 'text') Object.assign(attributes, { x: at(s.x), y: at(s.y) });
  if (s.tag === 'circle') Object.assign(attributes, { cx: at(s.x), cy: at(s.y), r: at(s.w) });
  if (s.tag === 'path') attributes.d = s.d ?? '';
  if (s.key) attributes['data-key'] = s.key;
  const e = drawn(s.tag, attributes);
  if (s.text) say(e, s.text);
  if (s.title) {
    const title = drawn('title', {});
    say(title, s.title);
    e.append(title);
  }
  return e;
}
