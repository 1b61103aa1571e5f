import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldHeartbeats, lineOf, lineText, parseFilter } from '../../assets/filter.js';
import { rec } from './made.mjs';

const alice = rec({ log: 'alice', seq: 4, machine: 'latch-1', kind: 'reply.create', from: 'enrolling', row: 'reply.create [made]', to: 'listing', effects: ['notify elected /a token=5'], zxid: 21, tried: ['late'], facts: 'path /a' });

test('words of a filter', () => {
  for (const [text, keeps] of Object.entries({
    '': true, 'who:ALICE': true, 'who:latch': true, 'who:bob': false, 'kind:reply': true, 'row:"reply.create [made]"': true, 'row:[made]': true, 'state:listing': true, 'state:leading': false,
    'effect:elected': true, 'guard:late': true, 'zxid>0x10': true, 'zxid>21': false, 'zxid>=21': true, 'zxid<0x16': true, 'zxid=21': true, 'zxid:21': true, '-who:alice': false, '-who:bob who:alice': true,
    'who:alice kind:timer': false, 'path': true, '"notify elected"': true, heartbeat: false, '-heartbeat': true, 'toString': false,
  })) {
    const { keep, error } = parseFilter(text);
    assert.equal(error, '', text);
    assert.equal(keep(alice), keeps, text);
  }
});

test('a filter that is wrong says what would be right', () => {
  assert.match(parseFilter('zxid>many').error, /want a number, as in zxid>0x10/);
  assert.match(parseFilter('whom:alice').error, /there are who, kind, row, state, effect, guard and zxid/);
  assert.match(parseFilter('constructor:x').error, /there are who/);
});

test('a transaction number of 0 is none', () => assert.equal(parseFilter('zxid<5').keep(rec({})), false));

test('heartbeats that follow each other are one line, unless it is open', () => {
  const all = [false, true, true, true, false, true, true].map((beat, i) => rec({ seq: i + 1, i, beat }));
  const lines = foldHeartbeats(all, new Set());
  assert.deepEqual(lines.map(l => l.fold ? `${l.fold.length} folded` : l.rec.i), [0, '3 folded', 4, '2 folded']);
  assert.deepEqual(foldHeartbeats(all, new Set([1, 5])).map(l => l.rec?.i), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(all.map(r => lineOf(lines, r)), [0, 1, 1, 1, 2, 3, 3]);
  assert.equal(lineOf(lines, rec({ i: 99 })), -1);
});

test('a record is one line', () => {
  assert.equal(lineText(alice), 'alice 4 latch-1 enrolling ─ reply.create [made] → listing  path /a  notify elected /a token=5');
  assert.equal(lineText(rec({ from: 'x', to: 'x', row: 'late', kind: 'reply.stat' })), 'a 1 session x (reply.stat: late)');
});
