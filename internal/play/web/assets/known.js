// Makes a picture say what is known of a world that runs: the picture knows what logs say, and logs end where the world was stopped.
import './types.js';
import './answers.js';

/** @typedef {import('./types.js').Picture} Picture */
/** @typedef {import('./types.js').Span} Span */
/** @typedef {{name: string, line: string, span: Span}} Standing a node of a participant */

/**
 * The nodes that stand and that no log has told of: of a create whose reply was lost, say. When one was created is in the
 * ensemble's own log.
 * @param {Picture} picture
 * @param {import('./answers.js').StandingNode[]} nodes
 * @returns {Standing[]}
 */
function untold(picture, nodes) {
  return nodes.flatMap(n => {
    const zxid = `0x${BigInt(n.token).toString(16)}`, made = picture.txns.find(x => x.zxid === zxid), line = n.path.slice(0, n.path.lastIndexOf('/'));
    const told = picture.machines.some(m => m.nodes.some(s => s.text?.includes(`(czxid ${zxid})`)));
    const tells = picture.machines.some(m => m.line === line && m.nodes.length > 0); // of some recipes' nodes no picture tells
    return n.owner === '' || told || !made || !tells ? [] : [{ name: n.owner, line, span: { from: made.from, to: 0, text: `${n.path} (czxid ${zxid}), of which no reply told` } }];
  });
}

/**
 * A picture with a node in each lane that has none, and the nodes that are left: a second one in a lane.
 * @param {Picture} picture
 * @param {import('./answers.js').StandingNode[]} nodes
 * @returns {{picture: Picture, second: Standing[]}}
 */
function withNodes(picture, nodes) {
  const left = untold(picture, nodes);
  const machines = picture.machines.map(m => {
    const mine = left.findIndex(s => s.name === picture.logs[m.log].name && s.line === m.line);
    if (mine < 0 || m.nodes.some(s => s.to === 0)) return m;
    const [node] = left.splice(mine, 1);
    return { ...m, nodes: [...m.nodes, node.span] };
  });
  return { picture: { ...picture, machines }, second: left };
}

/**
 * A picture up to a moment: what is open goes on until then, and pauses are as they were, not as they were noticed. Of a dead
 * process its log is all there is.
 * @param {Picture} picture
 * @param {import('./answers.js').Player[]} players
 * @param {number} now
 * @returns {Picture}
 */
function untilNow(picture, players, now) {
  const of = (/** @type {string} */ name) => players.find(p => p.name === name);
  const closed = (/** @type {Span[]} */ spans) => spans.map(s => ({ ...s, to: s.to === 0 ? now : Math.min(s.to, now) }));
  const logs = picture.logs.map(l => {
    const p = of(l.name);
    if (!p) return l;
    const pauses = p.pauses.filter(s => !p.dead || s.to).map(s => ({ from: s.from, to: s.to || now, text: 'the process does not run' }));
    return p.dead ? { ...l, pauses } : { ...l, pauses, cut: false, connected: l.connected.map((s, i, all) => p.server && i === all.length - 1 ? { ...s, to: now } : s) };
  });
  const machines = picture.machines.map(m => of(picture.logs[m.log].name)?.dead ? { ...m, nodes: closed(m.nodes) }
    : { ...m, work: workUntil(m, of(picture.logs[m.log].name), now), nodes: closed(m.nodes), right: closed(m.right), heard: closed(m.heard), inside: closed(m.inside ?? []) });
  return { ...picture, logs, machines };
}

/**
 * The times in which work ran on. Work that has not returned runs on, also if its log says nothing more.
 * @param {import('./types.js').Participant} m
 * @param {import('./answers.js').Player | undefined} p
 * @param {number} now
 */
function workUntil(m, p, now) {
  const last = m.heard[m.heard.length - 1], drains = p && [...m.all ?? [], m.machine].some(name => p.machines?.[name] === 'draining');
  if (!drains || !last || last.to <= 0) return m.work;
  return [...m.work.filter(s => s.from !== last.to), { from: last.to, to: now, record: last.record, text: 'work runs on: it is not released' }];
}

/**
 * A lane for each participant: those of a line and its parent's are one, and who has none gets one.
 * @param {Picture} picture
 * @param {import('./answers.js').Player[]} players
 * @returns {Picture}
 */
function oneLaneEach(picture, players) {
  const known = picture.machines.filter(m => m.line !== '/' && picture.lines.includes(m.line));
  const machines = picture.logs.flatMap((l, log) => {
    const mine = known.filter(m => m.log === log), lines = [...new Set(mine.map(m => m.line))], p = players.find(x => x.name === l.name);
    if (lines.length === 0) return p?.main ? [{ log, machine: p.main, who: l.name, line: known.length ? known[0].line : '', nodes: [], right: [], heard: [], work: [] }] : [];
    return lines.map(line => mine.filter(m => m.line === line).reduce(joinLanes));
  });
  return { ...picture, machines, lines: known.length ? picture.lines.filter(line => line !== '/') : [] };
}

/**
 * Two lanes as one. Terms keep their places: the first right belongs to the first thing that was heard.
 * @param {import('./types.js').Participant} a
 * @param {import('./types.js').Participant} b
 * @returns {import('./types.js').Participant}
 */
function joinLanes(a, b) {
  const most = Math.max(a.right.length, a.heard.length), never = { from: -1, to: -1 };
  const filled = (/** @type {Span[]} */ spans) => [...spans, ...Array.from({ length: most - spans.length }, () => never)];
  return {
    ...b, all: [...(a.all ?? [a.machine]), b.machine], nodes: [...a.nodes, ...b.nodes], work: [...a.work, ...b.work], inside: [...a.inside ?? [], ...b.inside ?? []],
    right: [...filled(a.right), ...b.right], heard: [...filled(a.heard), ...b.heard],
  };
}

/**
 * The headline of a world whose promises are checked.
 * @param {import('./answers.js').Answer} a
 * @param {Picture} picture
 */
function headline(a, picture) {
  const names = a.promises.filter(p => p.broken > 0).map(p => p.name);
  if (names.length) return { verdict: 'two at once', headline: picture.verdict === 'two at once' ? picture.headline : `Broken: ${names.join(', ')}.` };
  return picture.verdict === 'cannot tell' ? { verdict: 'never', headline: 'No promise is broken.' } : { verdict: picture.verdict, headline: picture.headline };
}

/**
 * The picture of an answer as the lanes show it, and nodes that have no place in them.
 * @param {import('./answers.js').Answer} a
 * @returns {{picture: Picture, second: Standing[]}}
 */
export function known(a) {
  const { picture, second } = withNodes(oneLaneEach(a.document.picture, a.participants), a.nodes);
  return { picture: { ...untilNow(picture, a.participants, a.now), ...headline(a, picture) }, second };
}

/**
 * The picture of the world before a change: what is known of its participants is in the picture.
 * @param {Picture} picture
 * @param {import('./answers.js').Answer} a the answer that it belongs to
 * @returns {Picture}
 */
export function ghostOf(picture, a) { return untilNow(oneLaneEach(picture, a.participants), [], a.now); }
