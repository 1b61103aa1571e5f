// Runs worlds in a Worker: what the page asks goes to the program in world.wasm, which is loaded and compiled at once.
/* global Go, importScripts, play */
const loaded = fetch('world.wasm');
importScripts('wasm_exec.js');

const ready = new Promise(resolve => { globalThis.playReady = resolve; });

async function begin() {
  const go = new Go(), answer = await loaded;
  if (!answer.ok) throw new Error(`world.wasm: ${answer.status} ${answer.statusText}`);
  const streams = answer.headers.get('Content-Type') === 'application/wasm'; // then it is compiled while it is loaded
  const { instance } = streams ? await WebAssembly.instantiateStreaming(answer, go.importObject) : await WebAssembly.instantiate(await answer.arrayBuffer(), go.importObject);
  const ended = go.run(instance).then(() => { throw new Error('the program in world.wasm has ended'); });
  await Promise.race([ready, ended]);
  ended.catch(error => postMessage({ ended: String(error) }));
}

const begun = begin();
begun.then(() => postMessage({ ready: true }), error => postMessage({ ended: String(error) }));

// A message without an id wants no answer: its world is played for a question to come.
addEventListener('message', async ({ data }) => {
  await begun;
  try {
    const said = play.ask(JSON.stringify(data.ask));
    if (!data.id) return;
    const answer = JSON.parse(said);
    postMessage(answer.error ? { id: data.id, error: answer.error } : { id: data.id, answer });
  } catch (error) {
    postMessage({ id: data.id, error: String(error) });
  }
});
