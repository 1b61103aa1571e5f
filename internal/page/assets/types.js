// The shapes of the data that Go writes: see page/document.go and why/picture.go. Times are microseconds since 1970.

/** @typedef {{log: string, seq: number}} Ref */
/** @typedef {{text: string, records?: Ref[]}} Sentence */
/** @typedef {{from: number, to: number, record?: number, text?: string}} Span */
/** @typedef {{line: string, from: number, to: number, cause?: string, title: string, story: Sentence[], at: Ref, nobody?: string, two?: boolean, open?: boolean}} Move */
/** @typedef {{name: string, clock: [number, number][], cut?: boolean, connected: Span[], pauses: Span[], gaps: Span[]}} Client */
/** @typedef {{log: number, machine: string, who: string, line: string, nodes: Span[], right: Span[], heard: Span[], work: Span[], inside?: Span[], all?: string[]}} Participant inside: a double barrier; all: machines that share the lane, the last one being machine */
/** @typedef {{zxid: string, from: number, to: number, kind: string, text: string, exact?: boolean}} Txn */
/** @typedef {{log?: string, seq?: number, zxid?: string}} End */
/** @typedef {{effect: End, cause: End, how: string}} Link */
/**
 * What why says of a line in short: see why/summary.go.
 * @typedef {object} Said
 * @property {string} path
 * @property {string} [work]
 * @property {boolean} [left] the last leader left on purpose
 * @property {{node: string, participant?: string, host?: string, why: string}} [inTheWay]
 * @property {number} [longestNanos]
 * @property {number} [withoutNanos] for how long nobody led in all
 * @property {string} [without] the same as a sentence
 * @property {{text?: string}[]} [terms] who led when
 * @property {{leastNanos: number, mostNanos: number, longestLeastNanos: number, longestMostNanos: number}} [gapBounds]
 * @property {{text: string}[]} [skipped]
 * @property {{text: string, command?: string}[]} [do]
 */
/** @typedef {{line: string, shards: number, members: {log: number, machine: string, who: string}[], since: number, terms: number[], plans: number[], two?: boolean}} Shards see shards.js */
/**
 * @typedef {object} Picture
 * @property {string} verdict
 * @property {string} headline
 * @property {string} [work] whether two worked at once, if the logs have work
 * @property {string} [writes] whether guarded writes stayed in their terms, if the logs have some
 * @property {string[]} lines
 * @property {Move[]} moves
 * @property {Said[]} [summary]
 * @property {Sentence[]} doubts
 * @property {number} [earlier]
 * @property {Client[]} logs
 * @property {Txn[]} txns
 * @property {Link[]} links
 * @property {Participant[]} machines
 * @property {Shards[]} [groups]
 */
/** @typedef {{name: string, otherCharts?: string[], rows: number[]}} Rows */
/** @typedef {{picture: Picture, dir?: string, charts: Record<string, string>, strings: string[], logs: Rows[]}} Document */
/**
 * One record. T is when it happened as it is shown, i its index in the order of all logs.
 * @typedef {object} Rec
 * @property {string} log
 * @property {string} who what the log is called
 * @property {number} seq
 * @property {number} at
 * @property {number} t
 * @property {number} i
 * @property {string} machine
 * @property {string} kind
 * @property {string} from
 * @property {string} row
 * @property {string} to
 * @property {number} cause
 * @property {string[]} tried
 * @property {string[]} effects
 * @property {string} facts
 * @property {number} zxid
 * @property {boolean} beat
 * @property {boolean} inner
 */
/** @typedef {{item: Rec | Txn, how: string}} Step */
export {};
