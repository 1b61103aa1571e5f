// What stands around the lanes: whom a deed is done to, what was done and what came of it, promises, lessons, and the choice of a world.
import './answers.js';
import { clockText } from './picture.js';
import { byId, element, say } from './dom.js';
import { headOf } from './link.js';
import { rangesOf } from './shards.js';

/** @typedef {import('./answers.js').Answer} Answer */
/** @typedef {import('./answers.js').Catalogue} Catalogue */
/** @typedef {import('./answers.js').Verb} Verb */

/** The key of each deed. */
export const VERB_KEYS = new Map([
  ['start', 's'], ['close', 'w'], ['resign', 'r'], ['kill', 'k'], ['freeze', 'f'], ['cut', 'c'], ['mute', 'm'], ['lose-reply', 'l'], ['expire', 'x'], ['delete', 'd'],
  ['hide', 'h'], ['isolate', 'i'], ['crash', 'u'], ['freeze-server', 'z'], ['depose', 'p'], ['slow-disk', 'o'],
]);

/**
 * The input with this id.
 * @param {string} id
 */
export function field(id) { return /** @type {HTMLInputElement} */ (byId(id)); }

/**
 * A moment of a world, without the day's zeros: "14.003".
 * @param {number} t
 */
export function moment(t) { return clockText(t).replace(/^00:(?:00:)?0?/, ''); }

/**
 * Fills in a choice.
 * @param {string} id
 * @param {[string, string][]} options values and texts
 */
function choice(id, options) {
  byId(id).replaceChildren(...options.map(([value, text]) => {
    const o = /** @type {HTMLOptionElement} */ (element('option', '', text));
    o.value = value;
    return o;
  }));
}

/**
 * Fills in what worlds there are.
 * @param {Catalogue} c
 */
export function offerWorlds(c) {
  choice('recipe', c.recipes.map(r => [r, r]));
  choice('scenario', c.scenarios.map(s => [s.name, s.name]));
  const about = () => { byId('scenario').title = c.scenarios.find(s => s.name === field('scenario').value)?.text ?? ''; };
  byId('scenario').addEventListener('change', about);
  about();
  choice('forgets', [['', 'nobody'], .../** @type {[string, string][]} */ (c.names.map(n => [n, n]))]);
  choice('bug', [['', 'none'], .../** @type {[string, string][]} */ (c.bugs.map(b => [b.name, `${b.name}: ${b.text}`]))]);
}

/**
 * Shows which world it is.
 * @param {import('./answers.js').Script} s
 */
export function showWorld(s) {
  const values = { recipe: s.recipe, scenario: s.scenario, starting: s.starting, waiting: s.names.length - s.starting, seed: s.seed, works: s.works ? s.works / 1e6 : '', forgets: s.forgets, bug: s.bug };
  for (const [id, value] of Object.entries(values)) field(id).value = String(value);
  field('ride-out').checked = s.rideOut;
  byId('scenario').dispatchEvent(new Event('change'));
}

/** The head of the link of the world that is chosen. */
export function chosenWorld() {
  const v = (/** @type {string} */ id) => field(id).value;
  return headOf({ recipe: v('recipe'), scenario: v('scenario'), starting: v('starting'), waiting: v('waiting'), seed: v('seed'), rideOut: field('ride-out').checked, forgets: v('forgets'), works: v('works'), bug: v('bug') });
}

/**
 * Shows to whom something may be done. Buttons stay the same ones, so that a click is not lost.
 * @param {Answer} a
 * @param {string} target
 * @param {(target: string) => void} choose
 */
export function showTargets(a, target, choose) {
  const all = [...a.participants.map((p, i) => [p.name, String(i + 1)]), ...a.servers.map(s => [s.name, s.name.toUpperCase()]), ['', '~']];
  const box = byId('targets');
  if (box.dataset.names !== all.map(([name]) => name).join()) {
    box.dataset.names = all.map(([name]) => name).join();
    box.replaceChildren(...all.map(([name, key]) => {
      const b = element('button', '', name ? (key === name.toUpperCase() ? `server ${name}` : name) : 'ensemble');
      b.dataset.target = name;
      b.setAttribute('role', 'radio');
      b.append(element('kbd', '', key));
      b.addEventListener('click', () => choose(name));
      return b;
    }));
  }
  for (const b of box.children) b.setAttribute('aria-checked', String(b instanceof HTMLElement && b.dataset.target === target));
}

/**
 * What is done to targets of this kind.
 * @param {Answer} a
 * @param {string} target
 * @returns {Verb['to']}
 */
export function kindOf(a, target) {
  return target === '' ? 'ensemble' : a.servers.some(s => s.name === target) ? 'server' : 'participant';
}

/**
 * Shows the deeds that the target can be done.
 * @param {Catalogue} c
 * @param {Verb['to']} kind
 * @param {(verb: Verb) => void} does
 */
export function showVerbs(c, kind, does) {
  const box = byId('verbs');
  if (box.dataset.kind === kind) return;
  box.dataset.kind = kind;
  box.replaceChildren(...c.deeds.filter(v => v.to === kind).map(v => {
    const b = element('button', '', v.lasts ? `${v.verb} ${v.for / 1e6} s` : v.verb);
    b.dataset.verb = v.verb;
    b.title = v.text;
    b.append(element('kbd', '', VERB_KEYS.get(v.verb) ?? ''));
    b.addEventListener('click', () => does(v));
    return b;
  }));
}

/**
 * How the target stands at the end of what has been run.
 * @param {Answer} a
 * @param {string} target
 */
export function targetText(a, target) {
  const p = a.participants.find(x => x.name === target), s = a.servers.find(x => x.name === target), at = `At ${moment(a.now)}: `;
  if (s) return `${at}${s.up ? s.role : 'down'}${s.isolated ? ', isolated' : ''}${s.frozen ? ', frozen' : ''}; clients: ${s.clients.join(', ') || 'none'}`;
  if (!p) return 'What is done to the ensemble is done to its leader, or to all servers.';
  if (!p.begun) return `${at}waits for “start”`;
  if (p.dead) return `${at}the process is gone`;
  const how = p.closed ? 'closed' : p.frozen ? `does not run until ${moment(p.until)}` : '';
  const may = p.may > a.now ? `may believe until ${moment(p.may)}${p.token ? ` with token ${p.token}` : ''}${p.shards?.length ? ` in ${p.shards.length === 1 ? 'shard' : 'shards'} ${rangesOf(p.shards)}` : ''}` : 'may not believe';
  const machines = Object.entries(p.machines).map(([m, state]) => `${m} ${state}`).join(', ');
  return at + [how, may, machines, p.server ? `at server ${p.server}` : 'at no server', p.session ? `session ${p.session}` : ''].filter(t => t).join('; ');
}

/**
 * What came of a deed, in words.
 * @param {Answer} a
 * @param {number} i
 * @returns {{how: 'done' | 'nothing' | '', text: string}}
 */
export function outcome(a, i) {
  const o = a.deeds.find(x => x.i === i);
  if (!o) return { how: '', text: a.script.deeds[i]?.mark === '-' ? 'taken out' : a.stopped ? `not done: ${a.stopped}` : 'not yet' };
  return o.done ? { how: 'done', text: o.says } : { how: 'nothing', text: `nothing: ${o.why}` };
}

/**
 * Shows what was done.
 * @param {Answer} a
 * @param {{toggle: (i: number) => void, drop: (i: number) => void, go: (t: number) => void}} o
 */
export function showDeeds(a, o) {
  say(byId('deeds-count'), a.script.deeds.length ? `${a.script.deeds.length}: take one out, and the same world runs again` : 'nothing yet');
  byId('deeds').replaceChildren(...a.script.deeds.map((d, i) => {
    const { how, text } = outcome(a, i), li = element('li', [how, d.mark === '-' ? 'out' : d.mark === '+' ? 'added' : ''].join(' ').trim());
    const box = /** @type {HTMLInputElement} */ (element('input')), told = element('span'), drop = element('button', '', '✕');
    box.type = 'checkbox';
    box.checked = d.mark !== '-';
    box.setAttribute('aria-label', `what if not: ${d.verb} ${d.target ?? ''}`);
    box.addEventListener('change', () => o.toggle(i));
    drop.title = 'remove it for good';
    drop.addEventListener('click', () => o.drop(i));
    const name = element('b', '', [d.mark === '+' ? 'added: ' : '', d.verb, d.target ?? '', d.for ? `${d.for / 1e6} s` : ''].filter(s => s).join(' '));
    const time = element('button', 'ref', moment(d.at));
    time.addEventListener('click', () => o.go(d.at));
    told.append(time, ' ', name, element('small', '', text));
    li.append(box, told, drop);
    return li;
  }));
}

/**
 * Shows from when on participants differ from the world before.
 * @param {Answer} a
 */
export function showParts(a) {
  byId('if-box').hidden = !a.before;
  if (!a.before) return;
  const parts = a.before.parts.map(p => p.at === 0 ? `${p.name}: the same` : `${p.name} differs from ${moment(p.at)} on`);
  say(byId('parts'), `What if: ${parts.join(' · ')}`);
}

/**
 * Shows the promises: those that are broken, with how.
 * @param {Answer} a
 * @param {{title: string, promises: import('./answers.js').Promised[]} | undefined} beside
 * @param {(t: number) => void} go
 */
export function showPromises(a, beside, go) {
  say(byId('bug-note'), a.bug ? `Planted bug “${a.bug.name}”: ${a.bug.text}.` : '');
  byId('promises').replaceChildren(...a.promises.map(p => {
    const li = element('li', p.broken ? 'broken' : ''), first = a.broken.find(b => b.promise === p.name);
    li.append(element('b', '', p.broken ? `${p.name}: broken${p.broken > 1 ? ` ${p.broken} times` : ''}` : p.name), element('small', '', `${p.text}.`));
    if (first) {
      const b = element('button', '', `${moment(first.at)} ${first.text}`);
      b.addEventListener('click', () => go(first.at));
      li.append(b);
    }
    const other = beside?.promises.find(x => x.name === p.name);
    if (other && other.broken !== p.broken) li.append(element('small', '', `“${beside?.title}”: ${other.broken ? 'broken' : 'kept'}`));
    return li;
  }));
}

/**
 * Lists the lessons.
 * @param {Catalogue} c
 * @param {(id: string) => void} open
 */
export function listLessons(c, open) {
  byId('lessons').replaceChildren(...c.lessons.map(l => {
    const li = element('li'), b = element('button', 'move'), p = element('p', '', l.says.join(' '));
    li.dataset.lesson = l.id;
    b.append(element('b', '', l.title));
    b.addEventListener('click', () => open(l.id));
    li.append(b, p);
    return li;
  }));
}

/**
 * Shows a lesson's two sentences.
 * @param {Catalogue} c
 * @param {import('./answers.js').Lesson | undefined} lesson
 */
export function showLesson(c, lesson) {
  byId('lesson-told').hidden = !lesson;
  for (const li of byId('lessons').children) li.classList.toggle('chosen', li instanceof HTMLElement && li.dataset.lesson === lesson?.id);
  if (!lesson) return;
  say(byId('lesson-title'), lesson.title);
  say(byId('lesson-says'), lesson.says.join(' '));
  const other = c.lessons.find(l => l.id === lesson.counterpart);
  byId('counterpart').hidden = !other;
  if (other) say(byId('counterpart'), `compare: ${other.title}`);
}
