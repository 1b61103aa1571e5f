import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEFT, chainShapes, clockText, duration, fit, joined, laneOf, layout, logNames, shapes } from '../../assets/picture.js';
import { client, documentOf, participant, rec } from './made.mjs';

const S = 1e6;
const view = { from: 0, to: 10 * S, width: LEFT + 14 + 1000, line: '/jobs' };

function picture() {
  const alice = participant(0, 'latch-1', { who: 'alice', right: [{ from: S, to: 4 * S, record: 5, text: 'token 5' }], heard: [{ from: S, to: 6 * S, record: 9 }], nodes: [{ from: S, to: 5 * S, record: 4 }], work: [{ from: 6 * S, to: 7 * S, record: 9 }] });
  const bob = participant(1, 'latch-1', { who: 'bob', nodes: [{ from: 2 * S, to: 0, record: 4 }] });
  const p = documentOf([client('alice', [[0, 0]], { pauses: [{ from: 3 * S, to: 6 * S }, { from: 5 * S, to: 6 * S }], cut: true }), client('bob', [[0, 0]])], {}, [bob, alice]).picture;
  p.moves = [{ line: '/jobs', from: 4 * S, to: 5 * S, title: 'alice → bob', story: [], at: { log: 'bob', seq: 4 } }];
  p.txns = [{ zxid: '0x5', from: 1 * S, to: 1.5 * S, kind: 'create', text: 'create /jobs/a' }, { zxid: '0x9', from: 5 * S, to: 5 * S, kind: 'expired', text: 'session expired', exact: true }];
  return p;
}
const logs = new Map([['alice', [rec({ log: 'alice', seq: 1, t: S, from: 'x', to: 'y', machine: 'latch-1' }), rec({ log: 'alice', seq: 2, t: 9 * S })]], ['bob', []]]);
const of = (all, layer) => all.filter(s => s.layer.split(' ')[0] === layer && s.tag !== 'text');

test('each layer has its own bars, from its time to its time', () => {
  const all = shapes(picture(), logs, view), x = t => LEFT + t / S * 100;
  for (const [layer, from, to] of [['right', 1, 4], ['told', 1, 6], ['late', 4, 6], ['work', 6, 7], ['pause', 3, 6], ['nobody', 4, 5]]) {
    const [bar, more] = of(all, layer);
    assert.equal(more, undefined, layer);
    assert.deepEqual([bar.x, bar.x + bar.w], [x(from * S), x(to * S)], layer);
  }
  const heights = ['right', 'told', 'node'].map(layer => { const [b] = of(all, layer); return [b.y, b.y + b.h]; });
  for (let i = 1; i < heights.length; i++) assert.ok(heights[i][0] >= heights[i - 1][1], 'layers lie on each other');
});

test('a bar says what the work was told, and not yet, in the words that have room', () => {
  const said = (v, layer) => shapes(picture(), logs, v).filter(s => s.tag === 'text' && s.layer === `in-${layer}`).map(s => [s.text, s.x]);
  assert.deepEqual(said(view, 'told'), [['work told that it leads', LEFT + 106]]);
  assert.deepEqual(said(view, 'late'), [['work not told yet, for 2.00 s', LEFT + 406]]);
  const wide = { ...view, to: 25 * S };
  assert.deepEqual(said(wide, 'told'), [['work told', LEFT + 46]]); // it ends where the late bar begins
  assert.deepEqual(said({ ...view, to: 22 * S }, 'late').map(s => s[0]), ['not told yet']);
  assert.deepEqual(said({ ...view, to: 300 * S }, 'told'), []);
});

test('a barrier has the times inside it where others have their right', () => {
  const p = picture();
  p.machines = [participant(0, 'doublebarrier-1', { nodes: [{ from: S, to: 0 }], inside: [{ from: 2 * S, to: 4 * S, record: 2, text: 'inside' }] }), participant(1, 'latch-1')];
  const all = shapes(p, logs, view), [bar, more] = of(all, 'inside'), names = all.filter(s => s.layer === 'layer-name').map(s => s.text);
  assert.equal(more, undefined);
  assert.deepEqual([bar.x, bar.x + bar.w, bar.key], [LEFT + 200, LEFT + 400, 'alice.2']);
  assert.deepEqual([names[0], names[5]], ['inside', 'may believe']);
});

test('who came first is above; a node without an end is open until the log ends', () => {
  const p = picture(), l = layout(p, view), all = shapes(p, logs, view);
  assert.deepEqual(l.lanes.map(m => m.who), ['alice', 'bob']);
  assert.deepEqual(of(all, 'node').map(s => s.layer), ['node', 'node open']);
  assert.equal(laneOf(l, p, rec({ log: 'bob', machine: 'session' })), 1);
  assert.equal(laneOf(l, p, rec({ log: 'nobody' })), -1);
  const two = { ...p, machines: [participant(1, 'mutex-3'), participant(1, 'mutex-2', { all: ['mutex-1', 'mutex-2'] })] }, shared = layout(two, view);
  assert.deepEqual(['mutex-1', 'mutex-2', 'mutex-3'].map(machine => shared.lanes[laneOf(shared, two, rec({ log: 'bob', machine }))].machine), ['mutex-2', 'mutex-2', 'mutex-3']);
});

test('a transaction that only replies show is a bracket; each has its zxid', () => {
  const all = shapes(picture(), logs, view);
  assert.equal(of(all, 'bracket').length, 1);
  assert.deepEqual(all.filter(s => s.layer === 'zxid').map(s => s.text), ['✕ 0x9', '+ 0x5']);
  assert.deepEqual(of(all, 'txn').map(s => s.key), ['@0x5', '@0x9']);
});

test('what ended a node has its zxid even where there is little room; none is cut off', () => {
  const p = picture();
  p.txns = [{ zxid: '0x8', from: 5 * S, to: 5 * S, kind: 'create', text: '', exact: true }, { zxid: '0x9', from: 5.1 * S, to: 5.1 * S, kind: 'delete', text: '', exact: true }, { zxid: '0xa', from: 9.9 * S, to: 9.9 * S, kind: 'set', text: '', exact: true }];
  assert.deepEqual(shapes(p, logs, view).filter(s => s.layer === 'zxid').map(s => [s.text, s.x]), [['− 0x9', LEFT + 513]]);
  for (const s of shapes(p, logs, view).filter(s => s.layer === 'axis')) assert.ok(s.x + s.text.length * 3.5 <= view.width, s.text);
});

test('lanes are in the order in which their participants came; two of one name say which log they are of', () => {
  const p = picture(), again = participant(1, 'latch-1', { who: 'alice', right: [{ from: 8 * S, to: 9 * S }], nodes: [{ from: 7 * S, to: 9 * S }] });
  p.machines = [again, ...p.machines];
  assert.deepEqual(layout(p, view).lanes.map(m => m.who), ['alice', 'bob', 'alice']);
  assert.deepEqual(shapes(p, logs, view).filter(s => s.layer === 'sub').map(s => s.text), ['alice latch-1', 'latch-1', 'bob latch-1', 'its own log']);
});

test('a move of which it is not known whether two had the right is open', () => {
  const p = picture();
  p.moves[0].open = true;
  assert.deepEqual([of(shapes(p, logs, view), 'open').length, of(shapes(p, logs, view), 'nobody').length], [1, 0]);
});

test('what is outside the view is not drawn, and a line shows its own participants', () => {
  const p = picture();
  assert.deepEqual(shapes(p, logs, { ...view, from: 20 * S, to: 30 * S }).filter(s => ['right', 'told', 'late', 'work', 'nobody', 'txn create'].includes(s.layer) && s.tag !== 'text'), []);
  assert.deepEqual(layout(p, { ...view, line: '/other' }).lanes.map(m => m.machine), ['session', 'session']);
});

test('100,000 records take no more shapes than there are pixels', () => {
  const many = Array.from({ length: 1e5 }, (_, i) => rec({ log: 'alice', seq: i + 1, t: i * 100, machine: 'latch-1', from: 'x', to: i % 2 ? 'x' : 'y' }));
  const all = shapes(picture(), new Map([['alice', many], ['bob', []]]), view), [low, high] = of(all, 'tick');
  assert.ok(all.length < 200);
  assert.ok(low.d.split('M').length < 1100 && high.d.split('M').length < 1100);
});

test('20,000 terms, pauses and deletions take no more shapes than there are pixels, and each kind is there', () => {
  const p = picture(), alice = p.machines[1], each = f => Array.from({ length: 20000 }, (_, i) => f(i * 500)), record = 1;
  Object.assign(alice, { nodes: each(t => ({ from: t, to: t + 400, record })), right: each(t => ({ from: t, to: t + 300, record })), heard: each(t => ({ from: t, to: t + 350, record })), work: each(t => ({ from: t, to: t + 350, record })) });
  p.logs[0].pauses = each(t => ({ from: t, to: t + 100 }));
  p.logs[0].connected = each(t => ({ from: t, to: t + 450 }));
  p.moves = each(t => ({ line: '/jobs', from: t, to: t + 50, title: '', story: [], at: { log: 'alice', seq: 1 }, two: t % 1000 === 0 }));
  p.txns = each(t => ({ zxid: `0x${t}`, from: t, to: t, kind: t % 1000 ? 'delete' : 'expired', text: '', exact: true }));
  const all = shapes(p, logs, view);
  for (const layer of ['right', 'told', 'node', 'work', 'link', 'pause', 'nobody', 'two', 'txn']) {
    const n = of(all, layer).length;
    assert.ok(n >= 400 && n <= 2002, `${layer}: ${n}`);
  }
  assert.deepEqual(new Set(of(all, 'txn').map(s => s.layer)), new Set(['txn delete', 'txn expired']));
  assert.deepEqual(of(shapes(p, logs, { ...view, to: 2000 }), 'right').map(s => s.x), [0, 500, 1000, 1500, 2000].map(t => LEFT + t / 2)); // each, where there is room
});

test('a chain is arrows from each cause to its effect', () => {
  const p = picture(), chain = [{ item: rec({ log: 'bob', t: 5 * S }), how: '' }, { item: p.txns[1], how: '' }, { item: logs.get('alice')[0], how: '' }];
  const all = chainShapes(p, layout(p, view), view, chain), parts = layer => all.find(s => s.layer === layer).d.split('M').slice(1);
  assert.deepEqual(all.map(s => s.layer), ['cursor', 'cause', 'point', 'point selected']);
  assert.equal(parts('cause').length, 2);
  assert.equal(parts('point').length, 2);
  assert.deepEqual([all[3].x, parts('cause')[0].split('C')[0]], [LEFT + 500, `${(LEFT + 500).toFixed(1)} ${layout(p, view).bottom + 12}`]);
});

test('a long chain takes four shapes, and one arrow for all on one pixel', () => {
  const p = picture(), many = n => Array.from({ length: 200 }, (_, i) => ({ item: rec({ log: 'alice', t: 5 * S - i * n }), how: '' }));
  const parts = n => chainShapes(p, layout(p, view), view, many(n)).map(s => s.d?.split('M').length ?? 0);
  assert.deepEqual(parts(1e4), [2, 200, 200, 0]);
  assert.ok(parts(1).every(n => n < 4));
  assert.deepEqual(chainShapes(p, layout(p, view), { ...view, from: 6 * S, to: 7 * S }, []), []);
});

test('a right whose end the log does not have is certain until the log ends only', () => {
  const p = picture(), alice = p.machines[1];
  alice.right = [{ from: S, to: 9.5 * S, text: 'token 5' }];
  alice.heard = [{ from: S, to: 0 }];
  p.moves = [{ line: '/jobs', from: 9.5 * S, to: 8 * S, title: 'alice → bob', story: [], at: { log: 'bob', seq: 4 } }];
  const all = shapes(p, logs, view), x = t => LEFT + t * 100;
  assert.deepEqual(of(all, 'right').map(s => [s.layer, s.x, s.x + s.w]), [['right', x(1), x(9)], ['right maybe', x(9), x(9.5)]]);
  assert.deepEqual(of(all, 'open').map(s => [s.x, s.x + s.w]), [[x(8), x(9.5)]]);
});

test('spans that overlap are one', () => assert.deepEqual(joined([{ from: 5, to: 6 }, { from: 1, to: 3 }, { from: 2, to: 4 }]).map(s => [s.from, s.to]), [[1, 4], [5, 6]]));

test('times are for people', () => {
  assert.deepEqual([500, 1500, 2.5e6, 65e6, 3.7e9].map(duration), ['500 µs', '1.5 ms', '2.50 s', '1 min 5 s', '1 h 1 min']);
  assert.equal(clockText(1795568150725000), '00:55:50.725');
  assert.equal(clockText(1e300), '?');
});

test('logs without a part in the line are folded, unless they are asked for, or nobody has a part', () => {
  const p = picture();
  p.logs.push(client('other', [[0, 0]]));
  assert.deepEqual([layout(p, view).lanes.length, layout(p, view).folded], [2, 1]);
  const all = layout(p, { ...view, unfolded: true });
  assert.deepEqual([all.lanes.map(m => m.who), all.folded], [['alice', 'bob', 'other'], 0]);
  assert.equal(layout({ ...p, machines: [] }, view).lanes.length, 3);
});

test('a recorded run is called by the id of its participant, or without its time stamp', () => {
  const p = picture(), run = '20261126T165820.366495Z-host1-15336';
  p.logs = ['alice', `logs/${run}`, run, `svc/${run}`, run].map(name => client(name, [[0, 0]]));
  p.machines = [participant(0, 'latch-1', { who: 'zoe' }), participant(1, 'latch-1', { who: 'bob' }), participant(2, 'latch-1', { who: 'bob' })];
  assert.deepEqual(logNames(p), ['alice', 'bob', 'bob (2)', 'svc', 'host1-15336']);
});

test('a name is cut where the names of the layers begin, however wide its letters are', () => {
  assert.equal(fit('alice', 108, 15), 'alice');
  assert.ok(fit('WWWWWWWWWWWW', 108, 15).length <= 9);
  assert.ok(fit('iiiiiiiiiiiiiiiiii', 108, 15).length === 18);
  assert.match(fit('host-a/billing-service', 108, 15), /^host-a.*…$/);
});

test('what is wrong has a chip that is never clipped; of two in one place, the longer one', () => {
  const p = picture(), chips = v => shapes(p, logs, v).filter(s => s.layer.startsWith('chip'));
  const [chip, more] = chips(view);
  assert.equal(more, undefined);
  assert.ok(chip.x >= LEFT && chip.x + chip.w <= view.width);
  p.moves.push({ ...p.moves[0], from: 9.9 * S, to: 10 * S + 1e5, title: 'bob → carol' });
  for (const c of chips({ ...view, from: 3.9 * S, to: 9.95 * S })) assert.ok(c.x + c.w <= view.width);
  p.moves = [{ ...p.moves[0], two: true, from: 4 * S, to: 4 * S + 270 }, { ...p.moves[0], from: 4 * S, to: 4.5 * S }];
  const said = shapes(p, logs, view).filter(s => s.layer.startsWith('in-chip')).map(s => s.text), [band] = of(shapes(p, logs, view), 'two');
  assert.deepEqual(said, ['TWO for 270 µs']);
  assert.ok(band.w >= 3, 'two at once for a moment cannot be seen');
});

test('a log that ends at the edge says so left of it', () => {
  const at = v => shapes(picture(), logs, v).find(s => s.layer.startsWith('ended'));
  assert.equal(at(view).layer, 'ended');
  assert.equal(at({ ...view, to: 9.2 * S }).layer, 'ended left');
});

test('on a phone names are above the bars, and nothing is right of the view', () => {
  const small = { ...view, width: 350 }, l = layout(picture(), small), all = shapes(picture(), logs, small);
  assert.equal(l.narrow, true);
  assert.deepEqual([of(all, 'link').length, of(all, 'tick').length, of(all, 'layer-name').length], [0, 0, 0]);
  const name = all.find(s => s.layer === 'who' && s.text === 'alice'), [bar] = of(all, 'right');
  assert.ok(name.y < bar.y);
  for (const s of all) assert.ok((s.x ?? 0) + (s.w ?? 0) <= 351, JSON.stringify(s));
});

test('heartbeats are no part of the arrows of causes', () => {
  const p = picture(), l = layout(p, view), step = (seq, beat) => ({ item: rec({ log: 'alice', seq, t: seq * S, beat, machine: 'latch-1' }), how: '' });
  const arrows = chain => (chainShapes(p, l, view, chain).find(s => s.layer === 'cause')?.d ?? '').split('M').length - 1;
  assert.equal(arrows([step(8, false), step(7, true), step(6, true), step(2, false)]), 1);
  assert.equal(arrows([step(8, true), step(2, false)]), 1); // the selected one is shown
});
