// The dialog with the keys, and the signs of the lanes.
import { LAYERS } from './picture.js';
import { byId, element, paint } from './dom.js';

/** What each key does. */
const KEYS = [
  ['← →', 'the record before, the next'], ['↓', 'what caused it'], ['↑', 'what it caused'], ['[ ]', 'the move before, the next'],
  [', .', 'of many shards: those before, the next'], ['+ − 0', 'zoom in, out, everything'], ['/', 'filter'], ['Esc', 'leave the filter'], ['?', 'these keys'],
];

export function helpDialog() { return /** @type {HTMLDialogElement} */ (byId('help')); }

/**
 * Fills in the keys and the legend.
 * @param {string[][]} [keys] more keys, with what they do
 * @param {string[][]} [more] more signs: the layer and its name
 */
export function explain(keys = [], more = []) {
  byId('keys').replaceChildren(...[...keys, ...KEYS].map(([key, does]) => {
    const tr = element('tr');
    tr.append(element('th', '', key), element('td', '', does));
    return tr;
  }));
  const signs = [...LAYERS.map(l => [l.layer, l.name]), ['late', 'not told yet'], ['work', 'work ran on'], ['pause', 'did not run'], ['nobody', 'nobody may believe'], ['open', 'whether two may is open'], ['two', 'two may believe'], ['owner o0', 'owns a shard'], ['plan', 'a shard is assigned'], ['gap', 'records missing'], ['cause', 'what led to it'], ...more];
  byId('legend').replaceChildren(...signs.filter(([layer]) => layer !== 'ticks').map(([layer, name]) => {
    const e = element('span', layer === 'plan' || layer.startsWith('owner') ? 'sign of-shards' : 'sign'), svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('width', '26');
    svg.setAttribute('height', '12');
    svg.append(layer === 'cause' ? paint({ tag: 'path', layer: 'cause', d: 'M1 10C9 -3 17 -3 25 10' }) : layer === 'plan' ? paint({ tag: 'path', layer, d: 'M9 3h8l-4 6z' }) : paint({ tag: 'rect', layer, x: 0, y: layer === 'link' ? 4 : 0, w: 26, h: layer === 'link' ? 5 : 12 }));
    e.append(svg, element('span', '', name));
    return e;
  }));
}
