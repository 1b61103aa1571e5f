// Which records are listed, and how heartbeats are folded. It draws nothing.
import './types.js';

/** @typedef {import('./types.js').Rec} Rec */
/** @typedef {{rec: Rec, fold?: undefined} | {fold: Rec[], rec?: undefined}} Line */

/** Words of a filter: name:word, name:"two words", zxid>0x10, -word, "two words".
 * A comparison belongs to zxid only. */
const WORD = /(-?)(?:([a-z]+)(:|>=|<=|>|<|=))?(?:"([^"]*)"|(\S+))/g;

/** @type {Record<string, (r: Rec) => string>} */
const FIELDS = {
  who: r => `${r.who} ${r.log} ${r.machine}`,
  kind: r => r.kind,
  row: r => r.row,
  state: r => `${r.from} ${r.to}`,
  effect: r => r.effects.join('\n'),
  guard: r => r.tried.join('\n'),
};

/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARE = { '>': (a, b) => a > b, '<': (a, b) => a < b, '>=': (a, b) => a >= b, '<=': (a, b) => a <= b, '=': (a, b) => a === b, ':': (a, b) => a === b };

/**
 * Reads a filter. The error says what is wrong with it and what would be right.
 * @param {string} text
 * @returns {{keep: (r: Rec) => boolean, error: string}}
 */
export function parseFilter(text) {
  /** @type {((r: Rec) => boolean)[]} */
  const tests = [];
  let error = '';
  for (const [whole, minus, name, compare, quoted, plain] of text.matchAll(WORD)) {
    const test = testOf(whole.slice(minus.length), name, compare, quoted ?? plain);
    if (typeof test === 'string') error ||= test;
    else tests.push(minus ? r => !test(r) : test);
  }
  return { keep: r => tests.every(t => t(r)), error };
}

/**
 * The test of one word of a filter, or what is wrong with it.
 * @param {string} whole
 * @param {string | undefined} name
 * @param {string | undefined} compare
 * @param {string} value
 * @returns {string | ((r: Rec) => boolean)}
 */
function testOf(whole, name, compare, value) {
  const word = value.toLowerCase();
  if (name === 'zxid' && compare) {
    const n = Number(value), holds = COMPARE[compare];
    return value.trim() === '' || !Number.isFinite(n) ? `${whole}: want a number, as in zxid>0x10` : r => r.zxid !== 0 && holds(r.zxid, n);
  }
  if (name && compare === ':') {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (!field) return `${name}: there are ${Object.keys(FIELDS).join(', ')} and zxid`;
    return r => field(r).toLowerCase().includes(word);
  }
  const all = name ? whole.toLowerCase() : word;
  if (all === 'heartbeat') return r => r.beat;
  return r => lineText(r).toLowerCase().includes(all);
}

/**
 * What a record's machine did, without effects.
 * @param {Rec} r
 */
export function headText(r) {
  const moved = r.row === 'late' || r.row === 'ignored' || r.row === 'unknown machine' ? `${r.from} (${r.kind}: ${r.row})`
    : r.from && r.from !== r.to ? `${r.from} ─ ${r.row} → ${r.to}` : r.from ? `${r.from}: ${r.row}` : `${r.row} → ${r.to}`;
  return `${r.who} ${r.seq} ${r.machine} ${moved}`;
}

/**
 * A record as one line.
 * @param {Rec} r
 */
export function lineText(r) { return [headText(r), r.facts, ...r.effects].filter(s => s !== '').join('  '); }

/**
 * Puts heartbeats that follow each other into one line, unless that is open.
 * @param {Rec[]} records
 * @param {Set<number>} open the places of the first records of lines that are open
 * @returns {Line[]}
 */
export function foldHeartbeats(records, open) {
  /** @type {Line[]} */
  const lines = [];
  for (let i = 0; i < records.length;) {
    let j = i;
    while (j < records.length && records[j].beat) j++;
    if (j - i > 1 && !open.has(records[i].i)) {
      lines.push({ fold: records.slice(i, j) });
      i = j;
      continue;
    }
    for (const end = Math.max(j, i + 1); i < end; i++) lines.push({ rec: records[i] });
  }
  return lines;
}

/**
 * The index of the line that has a record, or would; -1 if it is not among them.
 * @param {Line[]} lines
 * @param {Rec} rec
 */
export function lineOf(lines, rec) {
  let lo = 0, hi = lines.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1, l = lines[mid];
    const last = l.fold ? l.fold[l.fold.length - 1].i : l.rec.i;
    if (last < rec.i) lo = mid + 1; else hi = mid;
  }
  const found = lines[lo];
  if (!found) return -1;
  return found.rec === rec || found.fold?.includes(rec) ? lo : -1;
}
