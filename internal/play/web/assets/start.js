// The playground's page: it begins.
import './answers.js';
import { duration } from './picture.js';
import { byId, say } from './dom.js';
import { explain } from './legend.js';
import { inWorker, overServer } from './backend.js';
import { VERB_KEYS, listLessons, offerWorlds } from './panel.js';
import { Play, words } from './play.js';
import { Duel } from './duelrun.js';

/** @typedef {import('./answers.js').Verb} Verb */

/**
 * The keys of the playground, for the dialog.
 * @param {import('./answers.js').Catalogue} c
 */
function playKeys(c) {
  const verbs = (/** @type {Verb['to']} */ to) => c.deeds.filter(v => v.to === to).map(v => `${VERB_KEYS.get(v.verb) ?? '–'} ${v.verb}`).join(', ');
  return [['space', 'run, stop'], ['>', 'run the world 10 s further'], ['Home End', 'to the beginning, to the end'], ['1 … 9', 'choose a participant'], ['A … E', 'choose a server'], ['~', 'choose the ensemble'],
    ['participant', verbs('participant')], ['server', verbs('server')], ['ensemble', verbs('ensemble')], ['q', 'deeds are questions: what if']];
}

/**
 * Shows two worlds next to each other, until something else is opened.
 * @param {import('./backend.js').Backend} back
 * @param {import('./answers.js').Catalogue} catalogue
 * @param {Play} play
 */
function duel(back, catalogue, play) {
  const leave = () => document.body.classList.remove('dueling');
  const worlds = new Duel(back, catalogue.duel, link => {
    leave();
    if (!link) return;
    byId('lessons-box').removeAttribute('open');
    play.goLink(link);
  });
  addEventListener('hashchange', leave);
  worlds.open().then(() => { document.body.dataset.duel = 'runs'; }, error => {
    leave();
    say(byId('trouble'), `The two worlds cannot be shown: ${words(error)}`, 600);
  });
}

/** Begins. */
async function start() {
  const back = document.querySelector('meta[name=back]')?.getAttribute('content') === 'worker' ? inWorker() : overServer();
  const catalogue = await back.catalogue(), play = new Play(back, catalogue);
  offerWorlds(catalogue);
  explain(playKeys(catalogue), [['inside', 'inside a barrier'], ['ghost', 'in the other world'], ['server isolated', 'server cut off']]);
  listLessons(catalogue, id => play.goLesson(id));
  play.listen();
  if (location.hash.length < 2) duel(back, catalogue, play);
  const box = /** @type {HTMLDetailsElement} */ (byId('lessons-box'));
  box.open = location.hash.length < 2;
  if (!await play.open(location.hash)) {
    const why = byId('trouble').textContent ?? '';
    if (!await play.open('')) throw new Error(why);
    say(byId('trouble'), why);
  }
  void play.starting();
  document.body.dataset.ready = duration(performance.now() * 1e3);
}

start().catch(error => { say(byId('verdict'), `The playground cannot begin: ${words(error)}`); });
