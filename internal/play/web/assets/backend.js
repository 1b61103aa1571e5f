// Who runs the worlds: the server that the page came from, or a Worker. Both give the same answers.
import './answers.js';

/** @typedef {import('./answers.js').Question} Question */
/** @typedef {import('./answers.js').Answer} Answer */
/** @typedef {import('./answers.js').Catalogue} Catalogue */
/** @typedef {{ask: (q: Question) => Promise<Answer>, catalogue: () => Promise<Catalogue>, started: Promise<void>}} Backend started: any world can be played */

/**
 * Reads an answer of the server: refusals are errors with its words.
 * @param {Response} response
 */
async function read(response) {
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  let said = text;
  try {
    said = JSON.parse(text).error ?? text;
  } catch { /* plain text */ }
  throw new Error(said.trim() || `${response.status} ${response.statusText}`);
}

/** @returns {Backend} */
export function overServer() {
  const headers = { 'Content-Type': 'application/json' };
  return {
    ask: async q => read(await fetch('ask', { method: 'POST', headers, body: JSON.stringify(q) })),
    catalogue: async () => read(await fetch('catalogue')),
    started: Promise.resolve(),
  };
}

/**
 * Reads a file of the site.
 * @param {string} name
 */
async function stored(name) {
  const file = await fetch(name);
  if (!file.ok) throw new Error(`${name}: ${file.status} ${file.statusText}`);
  return file.json();
}

/**
 * A Worker takes a while to start. Until then, the site's files have what is offered and the answers to some links.
 * @returns {Backend}
 */
export function inWorker() {
  const worker = new Worker('worker.js');
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  /** @type {Map<string, string>} */
  const files = new Map(); // of answers, by their links
  let last = 0, ended = '', runs = false;
  /** @type {Promise<void>} */
  const started = new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ why) => {
      ended = why;
      for (const asked of waiting.values()) asked.reject(new Error(why));
      waiting.clear();
      reject(new Error(why));
    };
    worker.addEventListener('error', event => fail(event.message || 'worker.js cannot be loaded'));
    worker.addEventListener('message', ({ data }) => {
      if (data.ended) fail(data.ended);
      if (data.ready) { runs = true; resolve(); }
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.error) asked?.reject(new Error(data.error)); else asked?.resolve(data.answer);
    });
  });
  started.catch(() => {}); // who waits for it hears of it
  const send = (/** @type {Question} */ ask) => new Promise((resolve, reject) => {
    if (ended) { reject(new Error(ended)); return; }
    last++;
    waiting.set(last, { resolve, reject });
    worker.postMessage({ id: last, ask });
  });
  const ask = async (/** @type {Question} */ q) => {
    const file = runs || q.until !== undefined || q.steps ? undefined : files.get(q.link);
    if (file === undefined) return send(q);
    try {
      /** @type {Answer} */
      const answer = await stored(file);
      worker.postMessage({ ask: { link: q.link, charts: Object.keys(answer.document.charts) } }); // so that the world is there when something is done in it
      return answer;
    } catch {
      return send(q);
    }
  };
  const catalogue = async () => {
    /** @type {Catalogue} */
    const c = await stored('catalogue.json');
    files.set(c.first, 'first.json');
    c.duel.forEach((link, i) => files.set(link, `duel-${i}.json`));
    for (const l of c.lessons) files.set(l.link, `lesson-${l.id}.json`);
    return c;
  };
  return { ask, catalogue, started };
}
