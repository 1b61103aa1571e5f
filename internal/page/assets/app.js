// The page: reads its data, shows it, and follows what is recorded.
import './types.js';
import { Address, namedBy } from './address.js';
import { duration } from './picture.js';
import { byId, say } from './dom.js';
import { explain } from './legend.js';
import { View } from './view.js';

/**
 * The data in the page.
 * @param {string} text base64 of gzip of JSON
 * @returns {Promise<import('./types.js').Document>}
 */
async function unpack(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const gunzip = new DecompressionStream('gzip'), writer = gunzip.writable.getWriter();
  return (await Promise.all([new Response(gunzip.readable).json(), writer.write(bytes), writer.close()]))[0];
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

/** Begins. The page is ready when verdict, moves, lanes, list and chart are there and answer; the time is from when it was opened. */
async function start() {
  const address = new Address(), app = new View({ selected: item => address.write(item), named: () => namedBy(location.hash) });
  app.take(await unpack(byId('data').textContent ?? ''));
  explain();
  app.listen();
  // The event's own address: the page's may have been written again since.
  addEventListener('hashchange', event => app.goTo(namedBy(event.newURL)));
  const live = document.querySelector('meta[name=live]')?.getAttribute('content');
  if (live) follow(app, live);
  document.body.dataset.ready = duration(performance.now() * 1e3);
}

start().catch(error => { say(byId('verdict'), `The page cannot show its data: ${error}`); });
