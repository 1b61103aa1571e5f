// node:test with node-zookeeper-client: what a service does when its session ends, and when a reply is lost.
'use strict';
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');
const test = require('node:test');
const zookeeper = require('node-zookeeper-client');

// start starts incumbent zk, which the environment variable INCUMBENT names, and a client of it. Both end with the test.
async function start(t) {
  const flags = ['zk', '--json', '--listen', '127.0.0.1:0', '--control', '127.0.0.1:0'];
  const server = spawn(process.env.INCUMBENT || 'incumbent', flags, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(readline.createInterface({ input: server.stdout }), 'line');
  const { address, control } = JSON.parse(line);
  const client = zookeeper.createClient(address, { sessionTimeout: 10000 });
  client.connect();
  await once(client, 'connected');
  t.after(() => { client.close(); server.kill(); });
  const ask = async (path, options) => {
    const answer = await fetch(control + path, options);
    const said = await answer.json();
    assert.equal(answer.status, 200, said.error);
    return said;
  };
  const post = (path, body) => ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const call = (name, ...args) => new Promise((done, fail) => client[name](...args, (err, value) => (err ? fail(err) : done(value))));
  return { client, ask, post, call };
}

test('the lease ends with the session', async (t) => {
  const { client, ask, post, call } = await start(t);
  await call('create', '/lease', zookeeper.CreateMode.EPHEMERAL);
  const [session] = (await ask('/v1/state')).sessions;
  assert.deepEqual(session.ephemerals, ['/lease']);
  const expired = once(client, 'expired');
  await post('/v1/expire', { session: session.id });
  await expired;
  assert.ok(!(await ask('/v1/tree')).nodes.some((node) => node.path === '/lease'));
});

test('a write may be done though its reply is lost', async (t) => {
  const { ask, post, call } = await start(t);
  await post('/v1/next', { op: 'create', path: '/once', action: 'cutAfter' });
  await assert.rejects(call('create', '/once', Buffer.from('x')), (err) => err.getCode() === zookeeper.Exception.CONNECTION_LOSS);
  assert.equal((await ask('/v1/tree?path=/once')).nodes[0].data, Buffer.from('x').toString('base64'));
});
