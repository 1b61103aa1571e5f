import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutLink, duelShapes, leaderAt, rightsOf, twoOf, verdictOf } from './duel.js';

const S = 1e6;
/** A world of three, each with the times of its right. */
const world = (...rights) => ({
  begin: 0, now: 60 * S, participants: ['alice', 'bob', 'carol'].map((name, i) => ({ name, server: 'abc'[i] })),
  document: { picture: { logs: ['alice', 'bob', 'carol'].map(name => ({ name })), machines: rights.map((all, log) => ({ log, right: all.map(([from, to]) => ({ from: from * S, to: to * S })) })) } },
});
const ours = world([[1, 12]], [[16, 0]], []), usual = world([[1, 19]], [[16, 60]], []);

test('who leads, and at which server, is known at each moment', () => {
  assert.deepEqual(leaderAt(ours, 5 * S), { name: 'alice', server: 'a' });
  assert.equal(leaderAt(ours, 13 * S), undefined);
  assert.deepEqual(leaderAt(ours, 20 * S), { name: 'bob', server: 'b' });
  assert.equal(rightsOf(ours).at(-1).to, 60 * S); // it leads on
});

test('two leaders are found at the moment when the second begins', () => {
  assert.equal(twoOf(ours), undefined);
  assert.deepEqual(twoOf(usual), { at: 16 * S, first: 'alice', second: 'bob' });
  assert.equal(twoOf(world([[1, 5], [4, 9]], [], [])), undefined); // one participant is no two
});

test('one sentence says which world has two leaders, and how long before the other had none', () => {
  assert.equal(verdictOf(ours, usual), 'Two leaders: with the usual lock alice and bob both lead; with incumbent alice had stopped 4.0 s before bob began.');
  assert.match(verdictOf(ours, ours), /^Neither has two leaders/);
});

test('the cut has its moment in the link, and the world ends later', () => {
  assert.equal(cutLink('1;latch;usual;3;20', 9.96 * S, 'b'), '1;latch;usual;3;20~10:isolate:b:15@28');
});

test('what is drawn ends at the moment that is shown', () => {
  const at = t => duelShapes(usual, { t: t * S, cut: { at: 10 * S, server: 'a', name: 'alice' }, width: 600 }).shapes, of = (t, layer) => at(t).filter(s => s.layer === layer && s.tag === 'rect');
  assert.equal(of(15, 'two').length, 0);
  assert.equal(of(17, 'two').length, 1);
  assert.equal(of(9, 'cut').length, 0);
  const [now] = at(17).filter(s => s.layer === 'now'), x = Number(now.d.slice(1).split(' ')[0]);
  for (const bar of of(17, 'right')) assert.ok(bar.x + bar.w <= x + 0.1, JSON.stringify(bar));
  for (const s of at(30)) assert.ok((s.x ?? 0) + (s.w ?? 0) <= 600, JSON.stringify(s));
});
