import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget } from './budget.js';

test('so many at once, and then so many a second', () => {
  const b = new Budget(3, 2);
  assert.deepEqual([1000, 1000, 1000].map(now => b.take(now)), [0, 0, 0]);
  assert.equal(b.take(1000), 500);
  assert.equal(b.take(1250), 250);
  assert.equal(b.take(1500), 0);
  assert.equal(b.take(1500), 500);
  assert.deepEqual([9000, 9000, 9000].map(now => b.take(now)), [0, 0, 0]);
  assert.equal(b.take(9000), 500);
});
