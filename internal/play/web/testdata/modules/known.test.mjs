import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ghostOf, known } from './known.js';
import { client, participant } from './made.mjs';

const NOW = 900;
const answer = (picture, participants, o = {}) => ({ document: { picture }, participants, nodes: [], promises: [], now: NOW, ...o });
const shown = (picture, participants, o) => known(answer(picture, participants, o)).picture;
const player = (name, o = {}) => ({ name, dead: false, server: 'a', pauses: [], ...o });
const picture = {
  verdict: 'never, proven', headline: 'Never.', lines: ['/jobs'], txns: [],
  logs: [client('alice', [], { cut: true, connected: [{ from: 10, to: 100 }, { from: 200, to: 700 }], pauses: [{ from: 1, to: 2 }] }), client('bob', [], { cut: true, connected: [{ from: 10, to: 100 }] })],
  machines: [participant(0, 'latch-1', { nodes: [{ from: 20, to: 0 }], right: [{ from: 30, to: 1200 }], heard: [{ from: 30, to: 0 }] }), participant(1, 'latch-1', { nodes: [{ from: 20, to: 500 }], right: [{ from: 30, to: 400 }], heard: [{ from: 30, to: 0 }] })],
};

test('what is open goes on until now, and no right further', () => {
  const { logs, machines } = shown(picture, [player('alice', { pauses: [{ from: 300, to: 0 }] }), player('bob', { dead: true, server: '', pauses: [{ from: 350, to: 0 }, { from: 50, to: 60 }] })]);
  assert.deepEqual(machines[0].nodes, [{ from: 20, to: NOW }]);
  assert.deepEqual(machines[0].right, [{ from: 30, to: NOW }]);
  assert.deepEqual(machines[0].heard, [{ from: 30, to: NOW }]);
  assert.deepEqual(logs[0].connected, [{ from: 10, to: 100 }, { from: 200, to: NOW }]);
  assert.deepEqual(logs[0].pauses.map(s => [s.from, s.to]), [[300, NOW]]);
  assert.equal(logs[0].cut, false);
});

test('who is inside a barrier is there until now', () => {
  const inside = [{ from: 40, to: 50 }, { from: 60, to: 0 }], machines = [participant(0, 'doublebarrier-1', { nodes: [{ from: 20, to: 0 }], inside })];
  assert.deepEqual(shown({ ...picture, machines }, [player('alice')]).machines[0].inside, [{ from: 40, to: 50 }, { from: 60, to: NOW }]);
  assert.deepEqual(shown({ ...picture, machines }, [player('alice', { dead: true })]).machines[0].inside, inside);
});

test('work that has not returned runs on until now', () => {
  const machines = [participant(0, 'latch-1', { heard: [{ from: 30, to: 50 }, { from: 60, to: 100, record: 7 }], work: [{ from: 50, to: 55 }, { from: 100, to: 120 }] })];
  const work = state => shown({ ...picture, machines }, [player('alice', { machines: { 'latch-1': state } })]).machines[0].work.map(s => [s.from, s.to]);
  assert.deepEqual(work('draining'), [[50, 55], [100, NOW]]);
  assert.deepEqual(work('waiting'), [[50, 55], [100, 120]]);
});

test('of a dead process its log is all there is', () => {
  const { logs, machines } = shown(picture, [player('bob', { dead: true, server: '', pauses: [{ from: 350, to: 0 }, { from: 50, to: 60 }] })]);
  assert.equal(logs[1].cut, true);
  assert.deepEqual(logs[1].connected, [{ from: 10, to: 100 }]);
  assert.deepEqual(logs[1].pauses.map(s => [s.from, s.to]), [[50, 60]]);
  assert.deepEqual(machines[1].heard, [{ from: 30, to: 0 }]);
  assert.deepEqual(machines[1].nodes, [{ from: 20, to: 500 }]);
});

test('the picture that was given stays as it is', () => {
  const before = JSON.stringify(picture);
  shown(picture, [player('alice')]);
  assert.equal(JSON.stringify(picture), before);
});

test('a node of which no reply told stands in its lane, and a second one is told of', () => {
  const txns = [{ zxid: '0x100000004', from: 20 }, { zxid: '0x10000000a', from: 300 }, { zxid: '0x10000000b', from: 310 }];
  const nodes = [{ path: '/jobs/x-0', owner: 'alice', token: '4294967300' }, { path: '/jobs/x-1', owner: 'bob', token: '4294967306' }, { path: '/jobs/x-2', owner: 'bob', token: '4294967307' }, { path: '/jobs', owner: '', token: '1' }];
  const told = { ...picture, txns, machines: [participant(0, 'latch-1', { nodes: [{ from: 20, to: 0, text: 'node 0 (czxid 0x100000004)' }] }), participant(1, 'latch-1', { nodes: [{ from: 20, to: 200, text: 'node 7 (czxid 0x100000002)' }] })] };
  const { picture: got, second } = known(answer(told, [], { nodes }));
  assert.deepEqual(got.machines[0].nodes.map(s => s.from), [20]);
  assert.deepEqual(got.machines[1].nodes.map(s => [s.from, s.to]), [[20, 200], [300, NOW]]);
  assert.deepEqual(second.map(s => [s.name, s.line, s.span.from]), [['bob', '/jobs', 310]]);
});

test('the handles of a participant are one lane, and each right keeps what was heard of it', () => {
  const machines = [participant(0, 'mutex-1', { right: [{ from: 10, to: 20 }, { from: 30, to: 40 }], heard: [{ from: 10, to: 21 }], nodes: [{ from: 5, to: 40 }] }), participant(1, 'mutex-1'),
    participant(0, 'mutex-2', { right: [{ from: 50, to: 60 }], heard: [{ from: 50, to: 61 }] }), participant(0, 'mutex-1', { line: '/' })];
  const got = ghostOf({ ...picture, machines }, answer(picture, []));
  assert.deepEqual(ghostOf({ ...picture, machines, lines: ['/', '/jobs'] }, answer(picture, [])).lines, ['/jobs']);
  assert.deepEqual(got.machines.map(m => [m.log, m.machine, m.all]), [[0, 'mutex-2', ['mutex-1', 'mutex-2']], [1, 'mutex-1', undefined]]);
  assert.deepEqual(got.machines[0].right.map(s => s.from), [10, 30, 50]);
  assert.deepEqual(got.machines[0].heard.map(s => s.from), [10, -1, 50]);
});

test('who has no lane gets one of the main machine', () => {
  const { machines, lines } = shown({ ...picture, lines: ['/'], machines: [participant(0, 'doublebarrier-1', { line: '/' })] }, [player('alice', { main: 'doublebarrier-1' }), player('bob', { main: '' })]);
  assert.deepEqual(machines.map(m => [m.who, m.machine, m.line]), [['alice', 'doublebarrier-1', '']]);
  assert.deepEqual(lines, []);
});

test('the headline says which promises are broken', () => {
  const promises = [{ name: 'one-place', broken: 2 }, { name: 'one-leader', broken: 0 }];
  assert.equal(shown(picture, [], { promises }).headline, 'Broken: one-place.');
  assert.equal(shown({ ...picture, verdict: 'two at once', headline: 'TWO' }, [], { promises }).headline, 'TWO');
  assert.equal(shown({ ...picture, verdict: 'cannot tell' }, []).headline, 'No promise is broken.');
  assert.equal(shown(picture, []).headline, 'Never.');
});
