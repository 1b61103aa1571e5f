import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deedText, headOf, kept, linkOf, seconds, splitAddress, timeless, toggled, undone } from './link.js';

const deeds = [{ text: '8.5:freeze:alice:9', mark: '' }, { text: '-9:cut:bob', mark: '-' }, { text: '+20:depose:8', mark: '+' }];

test('an address holds a link, and what was selected', () => {
  assert.deepEqual(splitAddress('#1;latch;usual;3;7~8:cut:bob@20!alice.43'), { link: '1;latch;usual;3;7~8:cut:bob@20', selected: 'alice.43' });
  assert.deepEqual(splitAddress('#1%3Blatch%3Busual'), { link: '1;latch;usual', selected: '' });
  assert.deepEqual(splitAddress('#%'), { link: '%', selected: '' });
  assert.deepEqual(splitAddress(''), { link: '', selected: '' });
  assert.equal(splitAddress(`#${'x'.repeat(1e6)}`).link.length, 5000);
  assert.equal(timeless('1;latch;usual;3;7~8:cut:bob@20'), '1;latch;usual;3;7~8:cut:bob');
  assert.equal(timeless('1;latch;usual;3;7'), '1;latch;usual;3;7');
});

test('microseconds are seconds without needless digits', () => {
  for (const [us, text] of [[0, '0'], [8500000, '8.5'], [1, '0.000001'], [20000001, '20.000001'], [14003000, '14.003'], [-3, '0'], [599999999, '599.999999']]) assert.equal(seconds(us), text);
});

test('a deed comes right after what has happened until then', () => {
  assert.equal(deedText({ mark: '', us: 8499999, verb: 'freeze', target: 'alice', lasts: '9' }), '8.5:freeze:alice:9');
  assert.equal(deedText({ mark: '+', us: 20000000, verb: 'depose', target: '', lasts: '8' }), '+20.000001:depose:8');
  assert.equal(deedText({ mark: '', us: 0, verb: 'cut', target: 'bob', lasts: '' }), '0.000001:cut:bob');
});

test('what is taken out is marked, what was added goes, and what was taken out comes back', () => {
  assert.deepEqual(toggled(deeds, 0), ['-8.5:freeze:alice:9', '-9:cut:bob', '+20:depose:8']);
  assert.deepEqual(toggled(deeds, 1), ['8.5:freeze:alice:9', '9:cut:bob', '+20:depose:8']);
  assert.deepEqual(toggled(deeds, 2), ['8.5:freeze:alice:9', '-9:cut:bob']);
  assert.deepEqual(kept(deeds), ['8.5:freeze:alice:9', '20:depose:8']);
  assert.deepEqual(undone(deeds), ['8.5:freeze:alice:9', '9:cut:bob']);
  assert.equal(linkOf('1;latch;usual;3;7', kept(deeds)), '1;latch;usual;3;7~8.5:freeze:alice:9~20:depose:8');
});

test('the head of a link has what was chosen, as it was typed', () => {
  const plain = { recipe: 'latch', scenario: 'usual', starting: ' 3', waiting: '0', seed: '7 ', rideOut: false, forgets: '', works: '', bug: '' };
  assert.equal(headOf(plain), '1;latch;usual;3;7');
  assert.equal(headOf({ ...plain, waiting: '2', rideOut: true, forgets: 'alice', works: '0.5', bug: 'all-first' }), '1;latch;usual;3+2;7;rideout;forgets=alice;work=0.5;bug=all-first');
  assert.equal(headOf({ ...plain, starting: 'NaN', seed: '' }), '1;latch;usual;NaN;');
});
