import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceOf, causeText, howBad, summaries, withoutText } from '../../assets/summary.js';
import { client, documentOf, participant } from './made.mjs';

const S = 1e6;

function picture() {
  const on = (log, line, machine, ...right) => participant(log, machine, { who: `${'abc'[log]}`, line, right: right.map(([from, to]) => ({ from: from * S, to: to * S })) });
  const p = documentOf([client('a', [[0, 0]]), client('b', [[0, 0]]), client('c', [[0, 0]])], {}, [
    on(0, '/led', 'latch-1', [1, 4]), on(1, '/led', 'latch-1', [6, 12]), on(2, '/led', 'latch-1', [12, 99]),
    on(0, '/nobody', 'election-2', [1, 3]), on(1, '/nobody', 'election-2', [4, 10]), on(0, '/two', 'selector-1', [1, 9]), on(1, '/two', 'selector-1', [8, 99]),
    on(0, '/lock', 'mutex-1', [1, 2]), on(1, '/lock', 'mutex-1', [9, 10]), on(0, '/never', 'latch-9'),
  ]).picture;
  p.lines = ['/led', '/nobody', '/two', '/lock', '/never'];
  const move = (line, more) => ({ line, from: S, to: S, title: '', story: [], at: { log: 'a', seq: 1 }, ...more });
  p.moves = [move('/led'), move('/led', { open: true }), move('/two', { two: true }), move('/nobody')];
  return p;
}

test('a line in short says who leads since when, or nobody, and for how long nobody did', () => {
  const all = new Map(summaries(picture(), 20 * S).map(s => [s.line, s]));
  const { now, since, longest, total, moves, verdict } = all.get('/led');
  assert.deepEqual([now, since, longest, total, moves, verdict], [['c'], 12 * S, 2 * S, 2 * S, 2, 'open']);
  const nobody = all.get('/nobody');
  assert.deepEqual([nobody.now, nobody.since, nobody.longest, nobody.total], [[], 10 * S, 10 * S, 11 * S]);
  assert.deepEqual([all.get('/two').verdict, all.get('/two').now, all.get('/two').total], ['two', ['b'], 0]);
  const lock = all.get('/lock'), never = all.get('/never');
  assert.deepEqual([lock.leads, lock.longest, lock.total, lock.now], [false, 0, 0, []]); // a lock may be free
  assert.deepEqual([never.leads, never.since, never.now, never.longest], [true, 0, [], 0]);
});

test('lines in trouble are above', () => {
  assert.deepEqual(summaries(picture(), 20 * S).map(s => s.line), ['/two', '/nobody', '/led', '/lock', '/never']);
});

test('a cause is said in words, a new one by its own name', () => {
  assert.equal(causeText('paused'), 'its process did not run');
  assert.equal(causeText('silent'), 'its server was silent');
  assert.equal(causeText('constructor'), 'constructor');
});

test('a headline is green only if nothing is wrong', () => {
  const of = o => howBad({ ...picture(), verdict: 'never, proven', ...o });
  assert.equal(of({}), 'good');
  assert.equal(of({ work: 'never', writes: 'in their terms' }), 'good');
  assert.equal(of({ verdict: 'two at once', work: 'two worked' }), 'bad');
  for (const o of [{ verdict: 'cannot tell' }, { work: 'two worked' }, { work: 'cannot tell' }, { writes: 'out of a term' }]) assert.equal(of(o), 'open', JSON.stringify(o));
});

test('what why says of a line is shown: what is in the way, who was skipped, what to do, and whether two worked', () => {
  const p = { ...picture(), summary: [
    { path: '/nobody', left: true }, { path: '/led', work: 'two worked' },
    { path: '/two', inTheWay: { node: 'latch-1', participant: 'dave', host: 'h4', why: 'was not released' }, skipped: [1, 2, 3, 4].map(n => ({ text: `p${n} was ahead of bob` })), do: [{ text: 'end dave', command: 'kill 7' }] },
  ] };
  assert.deepEqual(adviceOf(p, '/never'), []);
  const all = adviceOf(p, '/two');
  assert.deepEqual(all.map(a => a.name), ['In the way', 'Skipped', 'Skipped', 'Skipped', 'Do']);
  assert.equal(all[0].text, 'the node of dave at h4: was not released');
  assert.equal(all[1].text, 'p1 was ahead of bob');
  assert.equal(all[4].command, 'kill 7');
  const of = new Map(summaries(p, 20 * S).map(s => [s.line, s]));
  assert.deepEqual([of.get('/led').worked, of.get('/nobody').left, of.get('/two').worked], [true, true, false]);
  assert.deepEqual(summaries(p, 20 * S).map(s => s.line).slice(0, 2), ['/two', '/led']); // who left on purpose is no trouble
});

test('who led and for how long nobody did are the words and numbers of why', () => {
  const p = { ...picture(), summary: [{ path: '/led', longestNanos: 3e9, withoutNanos: 4e9, without: 'Without a leader: at least 2 s', terms: [{ text: 'Led: a from 1: of old' }, ...[2, 3, 4, 5].map(n => ({ text: `Led: a from ${n}` })), {}] }] };
  assert.deepEqual(adviceOf(p, '/led').map(a => `${a.name}|${a.text}`), ['Led|a from 3', 'Led|a from 4', 'Led|a from 5', 'Without a leader|at least 2 s']);
  const { longest, total } = summaries(p, 20 * S).find(s => s.line === '/led');
  assert.deepEqual([longest, total], [3 * S, 4 * S]);
  assert.equal(withoutText({ longest, total }), '3.00 s (4.00 s in all)');
  const bounds = { leastNanos: 1e9, mostNanos: 5e9, longestLeastNanos: 2e9, longestMostNanos: 2e9 };
  assert.equal(withoutText({ longest, total, bounds }), '2.00 s (1.00 s to 5.00 s in all)');
});
