// The page: reads its data, shows it, and follows what is recorded.
import './types.js';
import { keyOf } from './model.js';
import { duration } from './picture.js';
import { byId, say } from './dom.js';
import { explain } from './legend.js';
import { View } from './view.js';

/**
 * What the address names.
 * @param {string} hash
 */
function named(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return '';
  }
}

/**
 * The data in the page.
 * @param {string} text base64 of gzip of JSON
 * @returns {Promise<import('./types.js').Document>}
 */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

/**
 * Waits for what is recorded from now on.
 * @param {View} app
 * @param {string} url
 */
function follow(app, url) {
  const have = app.model.picture.logs.map(l => `${encodeURIComponent(l.name)}.${app.model.logs.get(l.name)?.at(-1)?.seq ?? 0}`).join(',');
  const source = new EventSource(`${url}?have=${encodeURIComponent(have)}`), state = byId('live-state');
  source.addEventListener('open', () => { say(state, '● live'); });
  source.addEventListener('error', () => { say(state, source.readyState === EventSource.CLOSED ? '○ ended' : '○ waits for the server'); });
  source.addEventListener('document', event => { say(state, '● live'); app.take(JSON.parse(event.data)); });
  source.addEventListener('unread', event => say(byId('unread'), JSON.parse(event.data)));
  source.addEventListener('trouble', event => say(state, `○ ${JSON.parse(event.data)}`));
}

/** Begins. */
async function start() {
  const began = performance.now(), app = new View({
    selected: item => history.replaceState(null, '', `#${encodeURIComponent(keyOf(item))}`),
    named: () => named(location.hash),
  });
  app.take(await unpack(byId('data').textContent ?? ''));
  explain();
  app.listen();
  addEventListener('hashchange', () => app.goTo(named(location.hash)));
  const live = document.querySelector('meta[name=live]')?.getAttribute('content');
  if (live) follow(app, live);
  document.body.dataset.ready = duration((performance.now() - began) * 1e3);
}

start().catch(error => { say(byId('verdict'), `The page cannot show its data: ${error}`); });
