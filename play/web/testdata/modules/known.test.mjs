import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilNow, withNodes } from './known.js';
import { client, participant } from './made.mjs';

const NOW = 900;
const player = (name, o = {}) => ({ name, dead: false, server: 'a', pauses: [], ...o });
const picture = {
  logs: [client('alice', [], { cut: true, connected: [{ from: 10, to: 100 }, { from: 200, to: 700 }], pauses: [{ from: 1, to: 2 }] }), client('bob', [], { cut: true, connected: [{ from: 10, to: 100 }] })],
  machines: [participant(0, 'latch-1', { nodes: [{ from: 20, to: 0 }], right: [{ from: 30, to: 1200 }], heard: [{ from: 30, to: 0 }] }), participant(1, 'latch-1', { nodes: [{ from: 20, to: 500 }], right: [{ from: 30, to: 400 }], heard: [{ from: 30, to: 0 }] })],
};

test('what is open goes on until now, and no right further', () => {
  const { logs, machines } = untilNow(picture, [player('alice', { pauses: [{ from: 300, to: 0 }] }), player('bob', { dead: true, server: '', pauses: [{ from: 350, to: 0 }, { from: 50, to: 60 }] })], NOW);
  assert.deepEqual(machines[0].nodes, [{ from: 20, to: NOW }]);
  assert.deepEqual(machines[0].right, [{ from: 30, to: NOW }]);
  assert.deepEqual(machines[0].heard, [{ from: 30, to: NOW }]);
  assert.deepEqual(logs[0].connected, [{ from: 10, to: 100 }, { from: 200, to: NOW }]);
  assert.deepEqual(logs[0].pauses.map(s => [s.from, s.to]), [[300, NOW]]);
  assert.equal(logs[0].cut, false);
});

test('of a dead process its log is all there is', () => {
  const { logs, machines } = untilNow(picture, [player('bob', { dead: true, server: '', pauses: [{ from: 350, to: 0 }, { from: 50, to: 60 }] })], NOW);
  assert.equal(logs[1].cut, true);
  assert.deepEqual(logs[1].connected, [{ from: 10, to: 100 }]);
  assert.deepEqual(logs[1].pauses.map(s => [s.from, s.to]), [[50, 60]]);
  assert.deepEqual(machines[1].heard, [{ from: 30, to: 0 }]);
  assert.deepEqual(machines[1].nodes, [{ from: 20, to: 500 }]);
});

test('the picture that was given stays as it is', () => {
  const before = JSON.stringify(picture);
  untilNow(picture, [player('alice')], NOW);
  assert.equal(JSON.stringify(picture), before);
});

test('a node of which no reply told stands in its lane, and a second one is told of', () => {
  const txns = [{ zxid: '0x100000004', from: 20 }, { zxid: '0x10000000a', from: 300 }, { zxid: '0x10000000b', from: 310 }];
  const nodes = [{ path: '/jobs/x-0', owner: 'alice', token: '4294967300' }, { path: '/jobs/x-1', owner: 'bob', token: '4294967306' }, { path: '/jobs/x-2', owner: 'bob', token: '4294967307' }, { path: '/jobs', owner: '', token: '1' }];
  const told = { ...picture, txns, machines: [participant(0, 'latch-1', { nodes: [{ from: 20, to: 0, text: 'node 0 (czxid 0x100000004)' }] }), participant(1, 'latch-1', { nodes: [{ from: 20, to: 200, text: 'node 7 (czxid 0x100000002)' }] })] };
  const { picture: got, second } = withNodes(told, nodes);
  assert.deepEqual(got.machines[0].nodes.map(s => s.from), [20]);
  assert.deepEqual(got.machines[1].nodes.map(s => [s.from, s.to]), [[20, 200], [300, 0]]);
  assert.deepEqual(second.map(s => [s.name, s.line, s.span.from]), [['bob', '/jobs', 310]]);
});
