// What the page knows: records of all logs in one order, transactions, and what caused what. It draws nothing.
import './types.js';
import { decodeRows, shownAt } from './decode.js';
import { logNames } from './picture.js';

/** @typedef {import('./types.js').Rec} Rec */
/** @typedef {import('./types.js').Txn} Txn */

/**
 * Whether an item is a record, and no transaction.
 * @param {Rec | Txn} item
 * @returns {item is Rec}
 */
export function isRecord(item) { return 'seq' in item; }

/**
 * The name of an item in links: "alice.43" or "@0x15".
 * @param {Rec | Txn} item
 */
export function keyOf(item) { return isRecord(item) ? `${item.log}.${item.seq}` : `@${item.zxid}`; }

/**
 * When an item happened, as it is shown.
 * @param {Rec | Txn} item
 */
export function timeOf(item) { return isRecord(item) ? item.t : item.from; }

/**
 * The last record of a log, or of a machine, until a time.
 * @param {Rec[]} records in the order of their times
 * @param {number} t
 * @returns {Rec | undefined}
 */
export function lastUntil(records, t) {
  let lo = 0, hi = records.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (records[mid].t <= t) lo = mid + 1; else hi = mid;
  }
  return records[lo - 1];
}

/** @returns {import('./types.js').Picture} */
function emptyPicture() {
  return { verdict: '', headline: '', lines: [], moves: [], doubts: [], logs: [], txns: [], links: [], machines: [] };
}

export class Model {
  constructor() {
    this.picture = emptyPicture();
    /** @type {Record<string, string>} */
    this.charts = {};
    /** @type {Map<string, Rec[]>} */
    this.logs = new Map();
    /** @type {Rec[]} */
    this.all = [];
    /** @type {Map<string, string[]>} */
    this.otherCharts = new Map();
    /** @type {Map<string, Txn>} */
    this.txns = new Map();
    /** @type {Map<string, {cause: import('./types.js').End, how: string}>} */
    this.links = new Map();
    /** @type {Map<string, Set<string>>} */
    this.results = new Map();
    /** @type {Map<string, Rec[]>} */
    this.byMachine = new Map();
    /** @type {Map<string, string>} what each log is called */
    this.names = new Map();
  }

  /**
   * Takes a document: the picture replaces the one before, the rows follow those before. Logs that it does not have are gone.
   * @param {import('./types.js').Document} doc
   */
  add(doc) {
    this.picture = doc.picture;
    Object.assign(this.charts, doc.charts);
    this.logs = new Map(doc.logs.map(rows => {
      const known = this.logs.get(rows.name) ?? [], last = known.at(-1)?.seq ?? 0;
      for (const rec of decodeRows(rows, doc.strings)) if (rec.seq > last) known.push(rec);
      this.otherCharts.set(rows.name, rows.otherCharts ?? []);
      return [rows.name, known];
    }));
    this.order();
    this.join();
  }

  /** Gives each record its time and its place among all. */
  order() {
    this.all = [];
    this.byMachine = new Map();
    const names = logNames(this.picture);
    this.names = new Map(this.picture.logs.map((l, i) => [l.name, names[i]]));
    for (const [i, client] of this.picture.logs.entries()) {
      /** @type {Map<string, Rec[]>} */
      const machines = new Map();
      for (const rec of this.logs.get(client.name) ?? []) {
        rec.t = shownAt(client.clock, rec.at);
        rec.who = names[i];
        this.all.push(rec);
        const own = machines.get(rec.machine);
        if (own) own.push(rec); else machines.set(rec.machine, [rec]);
      }
      for (const [name, own] of machines) this.byMachine.set(`${client.name}\n${name}`, own);
    }
    this.all.sort((a, b) => a.t - b.t);
    this.all.forEach((rec, i) => { rec.i = i; });
  }

  /** Reads what caused what in another log. */
  join() {
    this.txns = new Map(this.picture.txns.map(x => [x.zxid, x]));
    this.links = new Map();
    this.results = new Map();
    for (const link of this.picture.links) {
      const [effect, cause] = [this.endKey(link.effect), this.endKey(link.cause)];
      if (this.links.has(effect)) continue;
      this.links.set(effect, link);
      const known = this.results.get(cause);
      if (known) known.add(effect); else this.results.set(cause, new Set([effect]));
    }
  }

  /** @param {import('./types.js').End} end */
  endKey(end) { return end.zxid ? `@${end.zxid}` : `${end.log}.${end.seq}`; }

  /**
   * The record of a log with this number.
   * @param {string} log
   * @param {number} seq
   * @returns {Rec | undefined}
   */
  record(log, seq) {
    const all = this.logs.get(log) ?? [];
    let lo = 0, hi = all.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (all[mid].seq < seq) lo = mid + 1; else hi = mid;
    }
    return all[lo]?.seq === seq ? all[lo] : undefined;
  }

  /**
   * The item with this name in links.
   * @param {string} key
   * @returns {Rec | Txn | undefined}
   */
  find(key) {
    if (key.startsWith('@')) return this.txns.get(key.slice(1));
    const dot = key.lastIndexOf('.');
    const seq = Number(key.slice(dot + 1));
    return dot > 0 && Number.isSafeInteger(seq) ? this.record(key.slice(0, dot), seq) : undefined;
  }

  /**
   * What caused an item, in its own log or in another one.
   * @param {Rec | Txn} item
   * @returns {import('./types.js').Step | undefined}
   */
  causeOf(item) {
    const link = this.links.get(keyOf(item));
    const far = link && this.find(this.endKey(link.cause));
    if (link && far) return { item: far, how: link.how };
    if (!isRecord(item) || !item.cause) return undefined;
    const near = this.record(item.log, item.cause);
    return near && { item: near, how: item.inner ? 'another machine sent it' : 'its answer, or its timer' };
  }

  /**
   * An item and what led to it, back to what came from outside.
   * @param {Rec | Txn} item
   * @returns {import('./types.js').Step[]}
   */
  chain(item) {
    const all = [{ item, how: '' }], seen = new Set([keyOf(item)]);
    for (let next = this.causeOf(item); next && all.length < 200; next = this.causeOf(next.item)) {
      const key = keyOf(next.item);
      if (seen.has(key)) break;
      seen.add(key);
      all.push(next);
    }
    return all;
  }

  /**
   * The first item that an item caused, heartbeats last.
   * @param {Rec | Txn} item
   * @returns {Rec | Txn | undefined}
   */
  resultOf(item) {
    for (const key of this.results.get(keyOf(item)) ?? []) {
      const found = this.find(key);
      if (found) return found;
    }
    if (!isRecord(item)) return undefined;
    const all = this.logs.get(item.log) ?? [];
    const own = all.filter(r => r.cause === item.seq);
    return own.find(r => !r.beat) ?? own[0];
  }

  /**
   * The state of a machine after a record of its log; "" if it is not known yet.
   * @param {string} log
   * @param {string} machine
   * @param {number} seq
   */
  stateAt(log, machine, seq) {
    const all = this.byMachine.get(`${log}\n${machine}`) ?? [];
    let lo = 0, hi = all.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (all[mid].seq <= seq) lo = mid + 1; else hi = mid;
    }
    // What was refused or late names no state.
    for (; lo > 0; lo--) {
      const state = all[lo - 1].to || all[lo - 1].from;
      if (state) return state;
    }
    return '';
  }

  /** The bounds of everything, with a little air.
   * @returns {[number, number]} */
  bounds() {
    if (this.all.length === 0) return [0, 1e6];
    const first = this.all[0].t, last = this.all[this.all.length - 1].t, air = Math.max(2e4, (last - first) * 0.02);
    return [first - air, last + air];
  }
}

/**
 * What a record lights in its machine's chart. A row through a choice has two arrows, "timer.fired > [placed]".
 * @param {Rec} rec
 */
export function litBy(rec) {
  const moved = rec.row !== 'ignored' && rec.row !== 'late' && rec.row !== 'refused' && rec.row !== 'unknown machine';
  return {
    recipe: rec.machine.split('-', 1)[0],
    from: rec.from, to: rec.to || rec.from,
    rows: moved ? rec.row.split(' > ') : [],
    kind: rec.kind, tried: rec.tried,
  };
}

/**
 * Which of a chart's arrows are lit, and which were tried: their guard did not hold.
 * @param {ReturnType<typeof litBy>} lit
 * @param {{from: string[], to: string, rows: string[]}[]} arrows
 * @returns {('lit' | 'tried' | '')[]}
 */
export function lightArrows(lit, arrows) {
  const [first, second] = lit.rows;
  const choices = second === undefined ? [] : arrows.filter(a => a.from.includes(lit.from) && a.rows.includes(first)).map(a => a.to);
  return arrows.map(a => {
    const near = a.from.includes(lit.from), far = a.from.some(s => choices.includes(s));
    const mine = second === undefined ? near && a.rows.includes(first) && (a.to === lit.to || lit.to === '')
      : near && a.rows.includes(first) && choices.includes(a.to) || far && a.rows.includes(second) && a.to === lit.to;
    if (first !== undefined && mine) return 'lit';
    const failed = lit.tried.some(g => near && a.rows.includes(`${lit.kind} [${g}]`) || far && a.rows.includes(`[${g}]`));
    return failed ? 'tried' : '';
  });
}
