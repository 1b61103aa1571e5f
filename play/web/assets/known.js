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
export function untold(picture, nodes) {
  return nodes.flatMap(n => {
    const zxid = `0x${BigInt(n.token).toString(16)}`, made = picture.txns.find(x => x.zxid === zxid), line = n.path.slice(0, n.path.lastIndexOf('/'));
    const told = picture.machines.some(m => m.nodes.some(s => s.text?.includes(`(czxid ${zxid})`)));
    return n.owner === '' || told || !made ? [] : [{ name: n.owner, line, span: { from: made.from, to: 0, text: `${n.path} (czxid ${zxid}), of which no reply told` } }];
  });
}

/**
 * A picture with a node in each lane that has none, and the nodes that are left: a second one in a lane.
 * @param {Picture} picture
 * @param {import('./answers.js').StandingNode[]} nodes
 * @returns {{picture: Picture, second: Standing[]}}
 */
export function withNodes(picture, nodes) {
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
export function untilNow(picture, players, now) {
  const of = (/** @type {string} */ name) => players.find(p => p.name === name);
  const closed = (/** @type {Span[]} */ spans) => spans.map(s => ({ ...s, to: s.to === 0 ? now : Math.min(s.to, now) }));
  const logs = picture.logs.map(l => {
    const p = of(l.name);
    if (!p) return l;
    const pauses = p.pauses.filter(s => !p.dead || s.to).map(s => ({ from: s.from, to: s.to || now, text: 'the process does not run' }));
    return p.dead ? { ...l, pauses } : { ...l, pauses, cut: false, connected: l.connected.map((s, i, all) => p.server && i === all.length - 1 ? { ...s, to: now } : s) };
  });
  const machines = picture.machines.map(m => of(picture.logs[m.log].name)?.dead ? { ...m, nodes: closed(m.nodes) }
    : { ...m, nodes: closed(m.nodes), right: closed(m.right), heard: closed(m.heard) });
  return { ...picture, logs, machines };
}
