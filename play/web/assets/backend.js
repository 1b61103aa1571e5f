// Who runs the worlds: the server that the page came from, or a Worker. Both give the same answers.
import './answers.js';

/** @typedef {{ask: (q: import('./answers.js').Question) => Promise<import('./answers.js').Answer>, catalogue: () => Promise<import('./answers.js').Catalogue>}} Backend */

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
  };
}

/** @returns {Backend} */
export function inWorker() {
  const worker = new Worker('worker.js');
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  let last = 0, ended = '';
  const fail = (/** @type {string} */ why) => {
    ended = why;
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  worker.addEventListener('error', event => fail(event.message || 'worker.js cannot be loaded'));
  worker.addEventListener('message', ({ data }) => {
    if (data.ended) fail(data.ended);
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) asked?.reject(new Error(data.error)); else asked?.resolve(data.answer);
  });
  const send = (/** @type {object} */ message) => new Promise((resolve, reject) => {
    if (ended) { reject(new Error(ended)); return; }
    last++;
    waiting.set(last, { resolve, reject });
    worker.postMessage({ id: last, ...message });
  });
  return { ask: q => send({ ask: q }), catalogue: () => send({ catalogue: true }) };
}
