// Makes a picture say what is known of a world that runs: the picture knows what logs say, and logs end where the world was stopped.
import './types.js';
import './answers.js';

/** @typedef {import('./types.js').Picture} Picture */
/** @typedef {import('./types.js').Span} Span */

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
