// The shapes of what the back ends answer: see package play. Times are microseconds since 1970, and worlds begin in 2026.

/** @typedef {{link: string, until?: number, steps?: number, have?: Record<string, number>, key?: string, charts?: string[]}} Question */
/** @typedef {{text: string, mark: '' | '-' | '+', at: number, verb: string, target?: string, for: number}} Deed */
/** @typedef {{i: number, at: number, done: boolean, says: string, why: string}} Outcome */
/** @typedef {{from: number, to: number}} Pause */
/** @typedef {{name: string, begun: boolean, machines: Record<string, string>, main: string, holds: boolean, may: number, token: string, shards?: number[], server: string, session: string, until: number, frozen: boolean, dead: boolean, closed: boolean, pauses: Pause[]}} Player */
/** @typedef {{name: string, role: string, up: boolean, isolated: boolean, frozen: boolean, clients: string[], spans: {from: number, to: number, kind: string}[]}} Server */
/** @typedef {{name: string, text: string, broken: number}} Promised */
/** @typedef {{at: number, promise: string, text: string, who: string[]}} Broken */
/** @typedef {{name: string, at: number, seq: number}} Part */
/** @typedef {{path: string, owner: string, token: string}} StandingNode */
/** @typedef {{recipe: string, scenario: string, names: string[], starting: number, seed: number, rideOut: boolean, forgets: string, works: number, bug: string, head: string, deeds: Deed[]}} Script */
/** @typedef {{document: import('./types.js').Document, deeds: Outcome[], broken: Broken[], digest: string, parts: Part[]}} Before */
/**
 * @typedef {object} Answer
 * @property {string} link
 * @property {string} key
 * @property {boolean} fresh
 * @property {number} begin
 * @property {number} now
 * @property {Script} script
 * @property {import('./types.js').Document} document
 * @property {Player[]} participants
 * @property {Server[]} servers
 * @property {StandingNode[]} nodes
 * @property {Outcome[]} deeds
 * @property {Promised[]} promises
 * @property {Broken[]} broken
 * @property {{name: string, text: string}} [bug]
 * @property {number} records
 * @property {number} moments
 * @property {string} digest
 * @property {string} stopped
 * @property {Before} [before]
 */
/** @typedef {{verb: string, to: 'participant' | 'server' | 'ensemble', lasts: boolean, for: number, text: string}} Verb */
/** @typedef {{id: string, title: string, link: string, says: string[], counterpart: string, focus: string}} Lesson */
/**
 * @typedef {object} Catalogue
 * @property {string} first
 * @property {string[]} duel
 * @property {string[]} recipes
 * @property {string[]} names
 * @property {{name: string, text: string, servers: string[], timeout: number, tick: number}[]} scenarios
 * @property {Verb[]} deeds
 * @property {{name: string, text: string, promise: string}[]} bugs
 * @property {Lesson[]} lessons
 * @property {{deeds: number, until: number, participants: number, linkBytes: number, seed: number, records: number}} limits
 */
export {};
