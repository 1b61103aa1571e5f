import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marks, serverRows } from './marks.js';
import { LEFT, layout } from './picture.js';
import { client, participant } from './made.mjs';

const view = { from: 0, to: 1000, width: LEFT + 1014, line: '/jobs' };
const picture = {
  verdict: '', headline: '', lines: ['/jobs'], moves: [], doubts: [], txns: [], links: [], logs: [client('alice', []), client('bob', [])],
  machines: [participant(0, 'latch-1', { right: [{ from: 100, to: 500 }] }), participant(1, 'latch-1')],
};
const l = layout(picture, view);
const deed = (at, verb, target, mark = '') => ({ text: `${at}:${verb}`, at, verb, target, mark, for: 0 });
const answer = o => ({ script: { deeds: [] }, deeds: [], broken: [], servers: [], now: 1000, ...o });
const all = (a, o = {}) => { const { behind, before } = marks(a, l, picture, view, { cursor: 1000, focus: 'alice', ...o }); return [...behind, ...before]; };
const layers = shapes => shapes.map(s => s.layer);

test('a deed stands in the lane of its participant, and says what came of it', () => {
  const shapes = all(answer({ script: { deeds: [deed(200, 'cut', 'bob'), deed(600, 'kill', 'alice'), deed(800, 'close', 'bob', '-'), deed(5000, 'cut', 'bob')] },
    deeds: [{ i: 0, done: true, says: 'it is cut' }, { i: 1, done: false, why: 'it is gone' }] }));
  const circles = shapes.filter(s => s.tag === 'circle');
  assert.deepEqual(circles.map(s => [s.layer, Math.round(s.x) - LEFT, s.y > l.top(1)]), [['deed', 200, true], ['deed nothing', 600, false], ['deed out', 800, true]]);
  assert.deepEqual(circles.map(s => s.title), ['cut bob: it is cut', 'kill alice: nothing: it is gone', '⌫ close bob: taken out']);
});

test('deeds that are near each other share a text', () => {
  const texts = all(answer({ script: { deeds: [deed(200, 'cut', 'bob'), deed(201, 'kill', 'alice'), deed(700, 'close', 'bob')] } })).filter(s => s.layer === 'deed' && s.tag === 'text');
  assert.deepEqual(texts.map(s => s.text), ['cut bob, kill alice', 'close bob']);
});

test('what is broken is lit across those who break it, once at each place', () => {
  const broken = [{ at: 300, promise: 'one-leader', text: 'x', who: ['alice', 'bob'] }, { at: 300, promise: 'one-leader', text: 'y', who: ['bob'] }, { at: 301, promise: 'one-place', text: 'z', who: ['bob'] }];
  const shapes = all(answer({ broken }));
  assert.equal(shapes.filter(s => s.layer === 'breach' && s.tag === 'path').length, 2);
  assert.match(shapes.find(s => s.layer === 'breach').d, new RegExp(`V${l.bottom + 44}$`));
  assert.deepEqual(shapes.filter(s => s.layer === 'breach' && s.tag === 'text').map(s => s.text), ['✕ one-leader, ✕ one-place']);
});

test('the ghost and the partings are drawn for a world that was changed', () => {
  const parts = [{ name: 'alice', at: 250, seq: 7 }, { name: 'bob', at: 0, seq: 0 }];
  const shapes = all(answer({ before: { parts } }), { ghost: picture }), [ghost] = shapes.filter(s => s.layer === 'ghost');
  assert.deepEqual([Math.round(ghost.x) - LEFT, Math.round(ghost.w)], [100, 400]);
  assert.deepEqual(shapes.filter(s => s.layer === 'parting').map(s => s.key), ['alice.7', 'alice.7']);
  assert.ok(!layers(all(answer({}))).some(name => name === 'ghost' || name === 'parting'));
});

test('what is after the cursor is veiled', () => {
  const veil = all(answer({}), { cursor: 400 }).find(s => s.layer === 'veil');
  assert.equal(Math.round(veil.x) - LEFT, 400);
  assert.ok(!layers(all(answer({}))).includes('veil'));
});

test('a server that is isolated is seen to lead on', () => {
  const servers = [{ name: 'a', role: 'leader', up: true, clients: ['alice'], spans: [{ from: 0, to: 0, kind: 'leads' }, { from: 200, to: 400, kind: 'isolated' }] }];
  const { height, shapes } = serverRows(answer({ servers }), l, view, { cursor: 1000, target: 'a' });
  const kinds = shapes.filter(s => s.layer.startsWith('server ')).map(s => s.layer);
  assert.deepEqual(kinds, ['server isolated', 'server leads']);
  assert.equal(height, 22);
  assert.ok(shapes.some(s => s.layer === 'lane chosen'));
});
