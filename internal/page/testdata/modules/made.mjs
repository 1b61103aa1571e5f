// Made-up parts of documents.
const COLUMNS = ['machine', 'kind', 'from', 'row', 'to'];

export const rec = o => ({ log: 'a', who: o.log ?? 'a', seq: 1, at: 0, t: 0, i: 0, machine: 'session', kind: 'timer.fired', from: '', row: 'timer.fired', to: '', cause: 0, tried: [], effects: [], facts: '', zxid: 0, beat: false, inner: false, ...o });

export const client = (name, clock, o = {}) => ({ name, clock, connected: [], pauses: [], gaps: [], ...o });

export const participant = (log, machine, o = {}) => ({ log, machine, who: machine, line: '/jobs', nodes: [], right: [], heard: [], work: [], ...o });

/** A document with these clients and their records. */
export function documentOf(logs, records, machines = []) {
  const strings = [];
  const index = s => { const i = strings.indexOf(s); return i >= 0 ? i : strings.push(s) - 1; };
  const encode = all => {
    let seq = 0, at = 0;
    return all.flatMap(r => {
      const row = [r.seq - seq, r.at - at, ...COLUMNS.map(c => index(r[c])), r.cause ? r.seq - r.cause : 0, index(r.tried.join('\n')), index(r.effects.join('\n')), index(r.facts), r.zxid, (r.beat ? 1 : 0) + (r.inner ? 2 : 0)];
      [seq, at] = [r.seq, r.at];
      return row;
    });
  };
  return {
    picture: { verdict: 'never, proven', headline: '', lines: [], moves: [], doubts: [], logs, txns: [], links: [], machines },
    charts: {}, logs: logs.map(l => ({ name: l.name, rows: encode(records[l.name] ?? []) })), strings,
  };
}
