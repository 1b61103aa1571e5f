// The page's address, which names what is selected.
import './types.js';
import { keyOf } from './model.js';

/** The least time between two writes, in milliseconds. Browsers refuse too many: Chromium 200 in 10 s, Safari 100 in 30 s. */
const APART = 350;

/** Writes the address. Of what is selected in quick succession, as by a key that is held, the first and the last are written. */
export class Address {
  constructor() {
    this.wanted = '';
    this.written = '';
    this.waits = false;
  }

  /** @param {import('./types.js').Rec | import('./types.js').Txn} item */
  write(item) {
    this.wanted = `#${encodeURIComponent(keyOf(item))}`;
    if (!this.waits) this.flush();
  }

  flush() {
    this.written = this.wanted;
    this.waits = true;
    history.replaceState(null, '', this.wanted);
    setTimeout(() => {
      this.waits = false;
      if (this.wanted !== this.written) this.flush();
    }, APART);
  }
}

/**
 * What the part of an address behind # names.
 * @param {string} address
 */
export function namedBy(address) {
  try {
    return decodeURIComponent(address.split('#').slice(1).join('#'));
  } catch {
    return '';
  }
}
