import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Model, keyOf, lastUntil, lightArrows, litBy } from '../../assets/model.js';
import { decodeRows, shownAt } from '../../assets/decode.js';
import { client, documentOf, participant, rec } from './made.mjs';

test('rows are differences, and name strings by their indexes', () => {
  const strings = ['session', 'timer.fired', 'connected', 'timer.fired [due]', '', 'a\nb', 'do 1\ndo 2', 'timer x'];
  const [a, b] = decodeRows({ name: 'alice', rows: [7, 100, 0, 1, 2, 3, 2, 0, 4, 4, 4, 0, 0, 2, 50, 0, 1, 2, 3, 2, 2, 5, 6, 7, 21, 3] }, strings);
  assert.deepEqual([a.seq, a.at, a.cause, a.tried, a.effects, a.beat, a.inner], [7, 100, 0, [], [], false, false]);
  assert.deepEqual([b.seq, b.at, b.cause, b.tried, b.effects, b.facts, b.zxid, b.beat, b.inner], [9, 150, 7, ['a', 'b'], ['do 1', 'do 2'], 'timer x', 21, true, true]);
});

test('between two points of a clock, time is linear; outside, it goes on', () => {
  const clock = [[0, 1000], [100, 1200], [300, 1400]];
  assert.deepEqual([-10, 0, 50, 100, 200, 300, 310].map(at => shownAt(clock, at)), [990, 1000, 1100, 1200, 1300, 1400, 1410]);
  assert.equal(shownAt([], 5), 5);
});

test('records of all logs are in the order of their times, and found by their names', () => {
  const m = new Model();
  m.add(documentOf([client('a.b', [[0, 0]]), client('c', [[0, 10]])], { 'a.b': [rec({ seq: 1, at: 5 }), rec({ seq: 2, at: 30 })], c: [rec({ seq: 1, at: 5 })] }));
  assert.deepEqual(m.all.map(keyOf), ['a.b.1', 'c.1', 'a.b.2']);
  assert.equal(m.find('a.b.2'), m.all[2]);
  for (const odd of ['', '.', 'a.b', 'a.b.3', 'x.1', 'a.b.1e0x', '@0x1', 'constructor.1']) assert.equal(m.find(odd), undefined, odd);
});

test('a second document adds what follows, and replaces the picture', () => {
  const m = new Model(), logs = [client('a', [[0, 0]])];
  m.add(documentOf(logs, { a: [rec({ seq: 1, at: 5 }), rec({ seq: 2, at: 6 })] }));
  m.add({ ...documentOf([client('a', [[0, 100]])], { a: [rec({ seq: 2, at: 6 }), rec({ seq: 3, at: 9 })] }) });
  assert.deepEqual(m.all.map(r => [r.seq, r.t]), [[1, 105], [2, 106], [3, 109]]);
});

test('a log that has gone takes its records with it: another run may have its name later', () => {
  const m = new Model(), of = (...names) => names.map(name => client(name, [[0, 0]]));
  m.add(documentOf(of('host'), { host: [rec({ seq: 1, at: 5 }), rec({ seq: 2, at: 6 })] }));
  m.add(documentOf(of('run1', 'run2'), { run1: [rec({ seq: 1, at: 5 })], run2: [rec({ seq: 1, at: 50 })] }));
  m.add(documentOf(of('host'), { host: [rec({ seq: 1, at: 50 }), rec({ seq: 2, at: 60 })] }));
  assert.deepEqual(m.all.map(r => [r.log, r.seq, r.t]), [['host', 1, 50], ['host', 2, 60]]);
  assert.deepEqual([...m.logs.keys()], ['host']);
});

test('a chain goes through another log, and ends where it would repeat', () => {
  const m = new Model(), doc = documentOf([client('a', [[0, 0]]), client('b', [[0, 0]])], {
    a: [rec({ seq: 1, at: 1 }), rec({ seq: 2, at: 2, cause: 1 })], b: [rec({ seq: 1, at: 9, kind: 'watch.deleted' }), rec({ seq: 2, at: 10, cause: 1 })],
  });
  doc.picture.txns = [{ zxid: '0x5', from: 4, to: 4, kind: 'delete', text: 'delete /n', exact: true }];
  doc.picture.links = [{ effect: { log: 'b', seq: 1 }, cause: { zxid: '0x5' }, how: 'gone' }, { effect: { zxid: '0x5' }, cause: { log: 'a', seq: 2 }, how: 'asked' },
    { effect: { log: 'a', seq: 1 }, cause: { log: 'b', seq: 2 }, how: 'a circle' }];
  m.add(doc);
  const last = m.find('b.2');
  assert.deepEqual(m.chain(last).map(s => keyOf(s.item)), ['b.2', 'b.1', '@0x5', 'a.2', 'a.1']);
  assert.equal(keyOf(m.resultOf(m.find('@0x5'))), 'b.1');
  assert.equal(keyOf(m.resultOf(m.find('b.1'))), 'b.2');
});

test('a state is that of the last record of its machine', () => {
  const m = new Model();
  m.add(documentOf([client('a', [[0, 0]])], { a: [rec({ seq: 1, at: 1, to: 'x' }), rec({ seq: 2, at: 2, machine: 'latch-1', to: 'y' }), rec({ seq: 3, at: 3, from: 'x', to: 'z' }), rec({ seq: 4, at: 4, row: 'refused' })] }));
  assert.deepEqual([1, 2, 3, 4].map(seq => m.stateAt('a', 'session', seq)), ['x', 'x', 'z', 'z']);
  assert.equal(m.stateAt('a', 'latch-1', 1), '');
});

test('the last record until a time, of those in their order', () => {
  const all = [1, 3, 3, 7].map((t, i) => rec({ seq: i + 1, t }));
  assert.deepEqual([0, 1, 2.5, 3, 6, 7, 99].map(t => lastUntil(all, t)?.seq), [undefined, 1, 1, 3, 3, 4, 4]);
  assert.equal(lastUntil([], 5), undefined);
});

test('a row lights its arrow, one through a choice two, and failed guards are marked', () => {
  const arrows = [
    { from: ['waiting'], to: 'leading', rows: ['watch.deleted [mayTakeOver]'] }, { from: ['waiting', 'resting'], to: 'looking', rows: ['watch.deleted [ahead]', 'timer.fired'] },
    { from: ['draining'], to: 'choosing', rows: ['work.drained'] }, { from: ['choosing'], to: 'leaving', rows: ['[mustDelete]'] }, { from: ['choosing'], to: 'resting', rows: ['[backsOff]'] },
  ];
  assert.deepEqual(lightArrows(litBy(rec({ machine: 'latch-12', kind: 'watch.deleted', from: 'waiting', row: 'watch.deleted [mayTakeOver]', to: 'leading', tried: ['ahead'] })), arrows), ['lit', 'tried', '', '', '']);
  assert.deepEqual(lightArrows(litBy(rec({ kind: 'work.drained', from: 'draining', row: 'work.drained > [mustDelete]', to: 'leaving', tried: ['backsOff'] })), arrows), ['', '', 'lit', 'lit', 'tried']);
  assert.deepEqual(lightArrows(litBy(rec({ kind: 'timer.fired', from: 'waiting', row: 'ignored', to: 'waiting' })), arrows), ['', '', '', '', '']);
  assert.deepEqual(['latch-12', 'latch-semaphore-1-1', 'session'].map(machine => litBy(rec({ machine })).recipe), ['latch', 'latch', 'session']);
});

test('a participant of a log without a node still has records', () => {
  const m = new Model();
  m.add(documentOf([client('a', [])], { a: [] }, [participant(0, 'latch-1')]));
  assert.deepEqual(m.bounds(), [0, 1e6]);
});
