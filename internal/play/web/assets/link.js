// Links as text: deeds are added, taken out and marked. What a link means is for the back end to say. It draws nothing.
import './answers.js';

/** @typedef {import('./answers.js').Script} Script */
/** @typedef {import('./answers.js').Deed} Deed */

/** Characters of an address that are looked at: the back end refuses links that are shorter than this. */
const MOST = 5000;

/**
 * What an address holds: the link, and what was selected ("" for nothing).
 * @param {string} hash with its #
 */
export function splitAddress(hash) {
  let text = hash.slice(1, 1 + MOST);
  try {
    text = decodeURIComponent(text);
  } catch { /* as it is: the back end refuses it in words */ }
  const end = text.indexOf('!');
  return end < 0 ? { link: text, selected: '' } : { link: text.slice(0, end), selected: text.slice(end + 1) };
}

/**
 * A link without its end of time.
 * @param {string} link
 */
export function timeless(link) {
  const at = link.lastIndexOf('@');
  return at < 0 ? link : link.slice(0, at);
}

/**
 * Microseconds as the seconds of a link: "8.5".
 * @param {number} us
 */
export function seconds(us) {
  const whole = Math.max(0, Math.round(us)), rest = whole % 1e6;
  return rest ? `${Math.floor(whole / 1e6)}.${String(rest).padStart(6, '0').replace(/0+$/, '')}` : String(whole / 1e6);
}

/**
 * The link of a script with these deeds.
 * @param {string} head
 * @param {string[]} deeds
 */
export function linkOf(head, deeds) { return [head, ...deeds].join('~'); }

/**
 * The text of a deed. It comes right after what has happened until then.
 * @param {{mark: '' | '+', us: number, verb: string, target: string, lasts: string}} deed us since the world began; lasts as typed, "" for a deed that does not last
 */
export function deedText(deed) {
  return [`${deed.mark}${seconds(deed.us + 1)}`, deed.verb, deed.target, deed.lasts].filter(s => s !== '').join(':');
}

/**
 * The deeds after one was taken out or put back: what was there before the question "what if" is marked, what was not goes.
 * @param {Deed[]} deeds
 * @param {number} i
 */
export function toggled(deeds, i) {
  return deeds.flatMap((d, n) => {
    if (n !== i) return [d.text];
    if (d.mark === '+') return [];
    return [d.mark === '-' ? d.text.slice(1) : `-${d.text}`];
  });
}

/**
 * The deeds when the change is kept.
 * @param {Deed[]} deeds
 */
export function kept(deeds) {
  return deeds.filter(d => d.mark !== '-').map(d => d.mark ? d.text.slice(1) : d.text);
}

/**
 * The deeds as they were before the change.
 * @param {Deed[]} deeds
 */
export function undone(deeds) {
  return deeds.filter(d => d.mark !== '+').map(d => d.mark ? d.text.slice(1) : d.text);
}

/**
 * The head of a link, from what was chosen. It is not checked here: the back end refuses in words what is wrong.
 * @param {{recipe: string, scenario: string, starting: string, waiting: string, seed: string, rideOut: boolean, forgets: string, works: string, bug: string}} c
 */
export function headOf(c) {
  const options = [c.rideOut ? 'rideout' : '', c.forgets ? `forgets=${c.forgets}` : '', c.works.trim() ? `work=${c.works.trim()}` : '', c.bug ? `bug=${c.bug}` : ''];
  const waiting = c.waiting.trim(), all = waiting && waiting !== '0' ? `${c.starting.trim()}+${waiting}` : c.starting.trim();
  return ['1', c.recipe, c.scenario, all, c.seed.trim(), ...options].filter((part, i) => i < 5 || part !== '').join(';');
}
