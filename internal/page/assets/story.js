// What is told in words: the verdict, the moves with their sentences, the doubts, and the causes of the selected item.
import './types.js';
import { isRecord, keyOf, timeOf } from './model.js';
import { clockText, duration } from './picture.js';
import { adviceOf, causeText, howBad, summaries, withoutText } from './summary.js';
import { headText } from './filter.js';
import { byId, element, plain, say } from './dom.js';

/** @typedef {import('./types.js').Rec} Rec */
/** @typedef {import('./types.js').Txn} Txn */

/** How many moves are listed at most: the last ones. */
const MOST_MOVES = 500;

/**
 * A sentence with a button for each of its records.
 * @param {import('./types.js').Sentence} sentence
 * @param {Map<string, string>} names what the logs are called
 * @param {(key: string) => void} go
 */
function sentence(sentence, names, go) {
  const e = element('span', 'sentence', `${sentence.text}.`);
  for (const ref of sentence.records ?? []) {
    const b = element('button', 'ref', `${names.get(ref.log) ?? ref.log}:${ref.seq}`);
    b.title = plain(`${ref.log}:${ref.seq}`, 400);
    b.addEventListener('click', event => { event.stopPropagation(); go(`${ref.log}.${ref.seq}`); });
    e.append(' ', b);
  }
  e.append(' ');
  return e;
}

/**
 * Shows verdict, doubts and moves. It returns the listed moves by their indexes.
 * @param {import('./types.js').Picture} picture
 * @param {Map<string, string>} names what the logs are called
 * @param {string} line
 * @param {(key: string) => void} go
 * @param {(index: number) => void} jump
 * @returns {Map<number, HTMLElement>}
 */
export function showStory(picture, names, line, go, jump) {
  const verdict = byId('verdict');
  say(verdict, picture.headline);
  verdict.className = howBad(picture);
  byId('doubts').replaceChildren(...picture.doubts.map(d => sentence(d, names, go)));
  /** @type {Map<number, HTMLElement>} */
  const listed = new Map();
  for (let i = Math.max(0, picture.moves.length - MOST_MOVES); i < picture.moves.length; i++) {
    const m = picture.moves[i];
    if (line !== '' && m.line !== line) continue;
    const li = element('li', m.two ? 'two' : '');
    li.dataset.move = String(i);
    const head = element('button', 'move');
    head.append(element('time', '', clockText(Math.min(m.from, m.to))), element('b', '', m.title), element('em', '', m.cause ?? 'first'));
    if (m.open) head.append(element('small', '', 'whether two may is open'));
    else if (m.nobody) head.append(element('small', '', m.nobody));
    head.addEventListener('click', () => jump(i));
    const p = element('p');
    p.append(...m.story.map(s => sentence(s, names, go)));
    li.append(head, p);
    listed.set(i, li);
  }
  const left = Math.max(0, picture.moves.length - MOST_MOVES);
  const box = byId('story');
  // Of a long list, the browser lays out and paints what can be seen.
  box.classList.toggle('long', listed.size > 50);
  box.replaceChildren(...left ? [element('li', '', `${left} moves before these are not listed`)] : [], ...listed.values());
  return listed;
}

/**
 * Says in which directory there is no log yet.
 * @param {string} dir
 */
export function sayDir(dir) {
  say(byId('no-logs-title'), `No log in ${dir} yet`, 400);
  say(byId('no-logs-dir'), dir, 400);
}

/** How many lines are listed at most. */
const MOST_LINES = 300;

/**
 * Shows each line in short, with a button that chooses it. A page without a place for that has none.
 * @param {import('./types.js').Picture} picture
 * @param {number} end the last moment that is known
 * @param {string} chosen
 * @param {(line: string) => void} choose
 */
export function showSummary(picture, end, chosen, choose) {
  const box = document.getElementById('lines'), all = summaries(picture, end);
  if (!box) return;
  byId('lines-box').hidden = all.length === 0;
  say(byId('lines-title'), `At the end of these logs, ${clockText(end, 0)} UTC`);
  box.replaceChildren(...all.slice(0, MOST_LINES).map(s => {
    const tr = element('tr', s.line === chosen ? 'chosen' : ''), line = element('td'), b = element('button', 'line', s.line || '/');
    b.ariaPressed = String(s.line === chosen);
    b.title = plain(s.line, 400);
    b.addEventListener('click', () => choose(s.line));
    line.append(b);
    const nobody = s.leads && s.now.length === 0 && s.since > 0, says = s.group ? s.group.now : s.now.length ? `${s.now.join(', ')} ${s.leads ? 'leads' : 'holds'}` : s.leads ? 'nobody leads' : 'free';
    const since = s.since > 0 && !s.group ? `${nobody || s.now.length ? 'since ' : 'from '}${clockText(s.since, 0)}, for ${duration(end - s.since)}` : '';
    tr.append(line, element('td', nobody && !s.left || s.now.length > 1 && s.leads && !s.group ? 'bad' : 'now', says), element('td', '', since), element('td', '', String(s.moves)),
      element('td', '', s.group ? s.group.without : s.leads ? withoutText(s) : '–'),
      element('td', s.verdict === 'two' ? 'bad' : s.verdict === 'open' || s.worked ? 'open' : '', `${s.verdict === 'two' ? s.group ? 'TWO OWNERS AT ONCE' : 'TWO AT ONCE' : s.verdict === 'open' ? 'cannot tell' : 'never two'}${s.worked ? ', TWO WORKED' : ''}`));
    return tr;
  }));
  byId('advice').replaceChildren(...adviceOf(picture, chosen).map(({ name, text, command }) => {
    const li = element('li');
    li.append(element('b', '', name), element('span', '', `: ${text} `), ...command ? [element('code', '', command)] : []);
    return li;
  }));
}

/**
 * Marks a move, and scrolls the list to it, but not the page: the lanes stay where they are.
 * @param {Map<number, HTMLElement>} listed
 * @param {number} index
 */
export function markMove(listed, index) {
  const box = byId('story'), li = listed.get(index), seen = box.getBoundingClientRect(), at = li?.getBoundingClientRect();
  if (at && (at.top < seen.top || at.bottom > seen.bottom)) box.scrollTop += at.top - seen.top;
  for (const [i, other] of listed) other.classList.toggle('selected', i === index);
}

/**
 * What an item is, in one line.
 * @param {Rec | Txn} item
 */
export function itemText(item) {
  return isRecord(item) ? headText(item) : `ensemble ${item.zxid} ${item.text}`;
}

/**
 * Shows an item and what led to it.
 * @param {import('./types.js').Step[]} chain
 * @param {string} cause of the move that the item begins; "" for none
 * @param {(key: string) => void} go
 */
export function showChain(chain, cause, go) {
  const item = chain[0].item;
  /** @type {[string, string][]} */
  const rows = [];
  const add = (/** @type {string} */ name, /** @type {string} */ value) => {
    if (value !== '') rows.push([name, value]);
  };
  if (isRecord(item)) {
    add('record', `${item.log}:${item.seq}`);
    add('machine', `${item.machine}: ${item.from && item.from !== item.to ? `${item.from} → ` : ''}${item.to}`);
    add('row', item.row);
    add('event', [item.kind, item.facts].filter(s => s).join(': '));
    add('effects', item.effects.join('\n'));
  } else {
    add('transaction', item.zxid);
    add('what', item.text);
    add('when', item.exact ? 'exactly then, by the clock of the ensemble’s leader' : `within ${duration(item.to - item.from)}, between the request and its answer`);
  }
  const table = element('dl');
  for (const [name, value] of rows) {
    const dd = element('dd');
    say(dd, value, 20000);
    table.append(element('dt', '', name), dd);
  }
  byId('detail').replaceChildren(table);
  const named = cause ? [element('li', 'named', `The cause: ${causeText(cause)} (${cause})`)] : [];
  byId('chain').replaceChildren(...named, ...foldSteps(chain, step => stepLine(step, item, go)));
}

/** How many steps of a long chain are shown at its beginning, and at its end. */
const SHOWN = [8, 4];

/**
 * The steps of a chain. Heartbeats, and those in the middle of a long one, are behind buttons.
 * @param {import('./types.js').Step[]} chain
 * @param {(step: import('./types.js').Step) => HTMLElement} line
 */
function foldSteps(chain, line) {
  /** @type {import('./types.js').Step[][]} those in a row are shown, or behind one button */
  const runs = [];
  const [first, last] = SHOWN, long = chain.length > first + last + 2;
  const hidden = chain.map(({ item }, i) => i > 0 && isRecord(item) && item.beat || long && i >= first && i < chain.length - last);
  chain.forEach((step, i) => {
    if (i > 0 && hidden[i] === hidden[i - 1]) runs[runs.length - 1].push(step); else runs.push([step]);
  });
  return runs.flatMap(steps => {
    if (!hidden[chain.indexOf(steps[0])] || steps.length === 1 && !(isRecord(steps[0].item) && steps[0].item.beat)) return steps.map(line);
    const beats = steps.every(({ item }) => isRecord(item) && item.beat), li = element('li'), b = element('button', 'folded', `${steps.length} ${beats ? steps.length === 1 ? 'heartbeat' : 'records of heartbeats' : 'steps'} between`);
    b.addEventListener('click', () => li.replaceWith(...steps.map(line)));
    li.append(b);
    return [li];
  });
}

/**
 * One step of a chain.
 * @param {import('./types.js').Step} step
 * @param {Rec | Txn} item where the chain begins
 * @param {(key: string) => void} go
 */
function stepLine(step, item, go) {
  const li = element('li'), b = element('button', 'step'), ago = timeOf(item) - timeOf(step.item);
  if (step.how) li.append(element('small', 'how', `← ${step.how}`));
  b.append(element('time', '', step.item === item ? clockText(timeOf(item)) : ago < 0 ? `+${duration(-ago)}` : `−${duration(ago)}`), element('span', '', itemText(step.item)));
  b.addEventListener('click', () => go(keyOf(step.item)));
  li.append(b);
  return li;
}
