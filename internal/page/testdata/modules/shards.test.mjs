import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEFT, layout } from '../../assets/picture.js';
import { countAt, groupOf, groupSummary, rangesOf, rowsOf } from '../../assets/shards.js';
import { shardShapes } from '../../assets/shardrows.js';
import { summaries } from '../../assets/summary.js';
import { client, documentOf, participant } from './made.mjs';

const S = 1e6;
const view = { from: 0, to: 20 * S, width: LEFT + 14 + 1000, line: '/jobs' };
const x = t => LEFT + t * 50;

/** A time with a shard, in seconds: by default nobody else had it before, and it goes on. */
const term = ({ shard = 0, member = 0, from, right, sure = right, stopped = -1, done = -1, token = 7, first, last = 0, mark = 0 }) =>
  [shard, member, from * S, (sure - from) * S, (right - from) * S, stopped < 0 ? -1 : (stopped - from) * S, done < 0 ? -1 : (done - from) * S, token, first, last, mark];

/** Shard 0 moves from alice to bob, whose work has to return first; shard 1 is alice's; shard 2 is assigned to carol, whose log is not here. */
function picture(terms, plans, shards = 3) {
  const members = [{ log: 0, machine: 'shards-1', who: 'alice' }, { log: 1, machine: 'shards-1', who: 'bob' }, { log: -1, machine: '', who: 'carol' }];
  const p = documentOf([client('alice', [[0, 0]]), client('bob', [[0, 0]])], {}, members.slice(0, 2).map((m, i) => participant(i, 'shards-1', { who: m.who, nodes: [{ from: 0, to: 0 }] }))).picture;
  p.lines = ['/jobs'];
  p.groups = [{ line: '/jobs', shards, members, since: 0, terms: terms.flat(), plans: plans.flat() }];
  return p;
}
/** All of it is assigned from the beginning. */
const moved = () => picture([
  term({ from: 1, right: 5, stopped: 5, done: 8, first: 3, last: 4 }), term({ member: 1, from: 9, right: 20, token: 9, first: 6 }), term({ shard: 1, from: 1, right: 20, first: 3 }),
], [[0, 0, 0, 0, 1], [1, 0, 0, 0, 1], [2, 2, 0, 0, 1], [0, 1, 5 * S, 1, 2]]);
const drawn = (p, v = view, end = 20 * S) => shardShapes(p, layout(p, v), v, end);
const of = (all, layer) => all.filter(s => s.tag !== 'text' && s.layer.split(' ')[0] === layer);
const spans = all => all.map(s => [s.x, s.x + s.w]);

test('a shard that moves has its owners, its leftover work, the time without an owner and the assignment, each at its time', () => {
  const all = drawn(moved()), [y] = of(all, 'owner').map(s => s.y), row = layer => of(all, layer).filter(s => Math.abs(s.y - y) < 24);
  assert.deepEqual(spans(row('owner')), [[x(1), x(5)], [x(9), x(20)]]);
  assert.deepEqual(row('owner').map(s => [s.key, s.layer]), [['alice.3', 'owner o0'], ['bob.6', 'owner o1']]);
  assert.match(row('owner')[1].title, /bob owns shard 0 with token 9, for 11.00 s/);
  assert.deepEqual(spans(row('work')), [[x(5), x(8)]]);
  assert.match(row('work')[0].title, /the work of alice returns after 3.00 s/);
  assert.equal(row('work')[0].key, 'alice.4');
  assert.deepEqual(spans(row('nobody')).slice(-1), [[x(5), x(9)]]);
  assert.match(row('nobody').at(-1).title, /nobody owned shard 0 for 4.00 s, assigned to bob/);
  assert.deepEqual(of(all, 'plan').slice(0, 2).map(s => [s.title, s.key]), [['assigned to alice', 'alice.1'], ['assigned to bob', 'bob.2']]);
  assert.equal(of(all, 'two').length + of(all, 'open').length, 0);
  const below = row('work')[0].y - row('owner')[0].y;
  assert.ok(below >= row('owner')[0].h, 'leftover work lies on owners');
});

test('work that was not told yet stands below, from the end of the right', () => {
  const all = drawn(picture([term({ from: 1, right: 5, stopped: 7, done: 8, first: 3, last: 4 }), term({ from: 10, right: 20, first: 9 })], [], 1)), rows = of(all, 'late').filter(s => s.h < 10);
  assert.deepEqual([spans(rows), spans(of(all, 'work').filter(s => s.h < 10))], [[[x(5), x(7)]], [[x(7), x(8)]]]);
  assert.match(rows[0].title, /alice has no right, and its work was not told yet, for 2.00 s/);
  const group = groupOf(picture([term({ from: 1, right: 5, stopped: 7, first: 3 }), term({ from: 10, right: 20, first: 9 })], [], 1), '/jobs');
  assert.equal(groupSummary(group, 19 * S).moves, 0);
});

test('a shard of a member without a log is not said to be nobody’s', () => {
  const all = drawn(moved()), gap = of(all, 'gap');
  assert.deepEqual(spans(gap), [[x(0), x(20)]]);
  assert.match(gap[0].title, /assigned to carol, whose log is not here/);
  const some = drawn(picture([term({ from: 9, right: 20, first: 3 })], [[0, 2, 2 * S, 0, 1], [0, 0, 6 * S, 0, 2]], 1));
  assert.deepEqual([spans(of(some, 'gap')), spans(of(some, 'nobody')).slice(-1)], [[[x(2), x(6)]], [[x(6), x(9)]]]);
});

test('how many a member owns, by its height, and in all', () => {
  const p = moved(), group = groupOf(p, '/jobs'), all = drawn(p), l = layout(p, view);
  assert.deepEqual(group.counts.map(c => c.map(({ t, n }) => [t / S, n])), [[[1, 2], [5, 1], [20, 0]], [[9, 1], [20, 0]], []]);
  const lane = i => of(all, 'right').filter(s => s.y >= l.top(i) && s.y < l.top(i) + l.lane);
  assert.deepEqual(lane(0).map(s => [s.x, s.h]), [[x(1), 17], [x(5), 8.5]]);
  assert.equal(countAt(group.counts[0], 6 * S), 1);
  assert.equal(countAt(group.counts[0], 0), 0);
  assert.deepEqual(group.owned.map(({ t, n }) => [t / S, n]), [[1, 2], [5, 1], [9, 2], [20, 0]]);
  assert.deepEqual(groupSummary(group, 19 * S), { owned: 2, moves: 1, longest: 4 * S, worst: 0, open: true });
  const [s] = summaries(p, 19 * S);
  assert.deepEqual([s.group.now, s.group.without, s.verdict, s.moves], ['2 of 3 shards have an owner', 'shard 0 had no owner for 4.00 s', 'open', 1]);
});

test('two owners at once are a fault where they overlap; what is not known is open', () => {
  const p = picture([term({ from: 1, right: 6, stopped: 6, done: 6, first: 3, last: 4 }), term({ member: 1, from: 4, right: 20, first: 6, mark: 2 }), term({ shard: 1, from: 1, right: 4, stopped: 4, done: 4, first: 3, last: 4 }), term({ shard: 1, member: 1, from: 4, right: 20, first: 7, mark: 1 })], []);
  p.groups[0].two = true;
  const all = drawn(p), [fault] = of(all, 'two'), [open] = of(all, 'open');
  assert.deepEqual([fault.x, fault.x + fault.w, fault.key], [x(4), x(6), 'bob.6']);
  assert.match(fault.title, /shard 0 had TWO OWNERS, alice and bob, for 2.00 s/);
  assert.ok(all.some(s => s.tag === 'text' && s.text.startsWith('TWO OWNERS')));
  assert.equal(open.x, x(4));
  assert.equal(summaries(p, 20 * S)[0].verdict, 'two');
});

test('of many shards there are rows for those with most to see, or for a block', () => {
  const terms = Array.from({ length: 1000 }, (_, shard) => term({ shard, from: 1, right: 20, first: 3 }));
  terms.push(term({ shard: 777, member: 1, from: 2, right: 20, first: 6, mark: 2 }));
  terms[500] = [...term({ shard: 500, from: 1, right: 3, stopped: 3, done: 3, first: 3, last: 4 }), ...term({ shard: 500, member: 1, from: 12, right: 20, first: 8 })];
  const p = picture(terms, [], 1000), group = groupOf(p, '/jobs');
  assert.equal(rowsOf(group).length, 32);
  assert.deepEqual([group.telling[0], group.telling[1], rowsOf(group).includes(500)], [777, 500, true]);
  assert.deepEqual([rowsOf(group, '992'), rowsOf(group, '0').length], [[992, 993, 994, 995, 996, 997, 998, 999], 32]);
  assert.ok(drawn(p).length < 400, `${drawn(p).length} shapes`);
  assert.equal(layout(p, view).bottom, layout(p, { ...view, block: '32' }).bottom);
  assert.equal(drawn(p).find(s => s.layer === 'row-name').title, '32 of 1000 are below');
  const names = drawn(p, { ...view, block: '992' }).filter(s => s.layer === 'row-name').map(s => s.text);
  assert.deepEqual(names, ['1000 shards', ...[992, 993, 994, 995, 996, 997, 998, 999].map(n => `shard ${n}`)]);
});

test('in a narrow view each row has its number, left of its bars', () => {
  const v = { ...view, width: 390 }, all = drawn(moved(), v), names = all.filter(s => s.layer === 'row-name'), l = layout(moved(), v);
  assert.deepEqual(names.map(s => s.text), ['all', '0', '1', '2']);
  assert.ok(names.every(s => s.x < l.left) && of(all, 'owner').every(s => s.x >= l.left && s.x + s.w <= 390));
});

test('shards as text', () => {
  const p = moved();
  assert.equal(rangesOf([0, 1, 2, 5, 7, 8]), '0–2, 5, 7–8');
  assert.equal(groupOf(p, '/other'), undefined);
  assert.deepEqual(drawn({ ...p, groups: [] }), []);
});

test('a group without terms, or with a shard too many, is drawn', () => {
  for (const terms of [[], [[9, 0, 0, 0, 0, -1, -1, 0, 0, 0, 0]], [[0, 0, 5]]]) assert.ok(drawn(picture(terms, [[9, 0, 0, 0, 1], [0, 1]])).length > 0);
});
