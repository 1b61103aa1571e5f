// Runs the two worlds that the playground opens with, until the second has two leaders.
import './answers.js';
import { byId, paint, say } from './dom.js';
import { AFTER_CUT, SHOWN_TWO, cutLink, duelShapes, leaderAt, twoOf, verdictOf } from './duel.js';

/** @typedef {import('./answers.js').Answer} Answer */

/** How much faster than the clock the worlds run. */
const SPEED = 2;
/** The most time that passes in one drawing: milliseconds. A hidden page draws none. */
const LONGEST_FRAME = 250;

export class Duel {
  /**
   * @param {import('./backend.js').Backend} back
   * @param {string[]} links of the library's world and of the usual lock's, until nothing is done
   * @param {(link: string) => void} leave opens the playground, with a link or with ''
   */
  constructor(back, links, leave) {
    this.back = back;
    this.links = links;
    this.leave = leave;
    /** @type {Answer[]} */
    this.worlds = [];
    this.t = 0;
    this.until = 0;
    this.running = false;
    this.asking = false;
    /** @type {{at: number, server: string, name: string, link: string} | undefined} */
    this.cut = undefined;
    this.still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    byId('duel-cut').addEventListener('click', () => void this.press());
    byId('duel-again').addEventListener('click', () => void this.open());
    byId('duel-open').addEventListener('click', () => this.leave(this.cut?.link ?? ''));
    new ResizeObserver(() => this.draw()).observe(byId('duel-ours'));
  }

  /** Begins: both worlds run, and nothing is done to them. */
  async open() {
    document.body.classList.add('dueling');
    this.cut = undefined;
    this.worlds = await Promise.all(this.links.map(link => this.back.ask({ link })));
    const [ours] = this.worlds, begun = ours.begin + 2e6;
    this.t = this.still ? ours.begin + 8e6 : begun;
    this.until = ours.now;
    this.end('');
    const leader = leaderAt(ours, this.t);
    const button = /** @type {HTMLButtonElement} */ (byId('duel-cut'));
    say(button, `Cut off ${leader?.name ?? 'the leader'}’s server`);
    button.hidden = false;
    button.disabled = false;
    byId('duel-again').hidden = true;
    this.draw();
    if (!this.still) this.run();
  }

  /** Cuts the leader's server off in both worlds, at the moment that is shown. */
  async press() {
    const [ours] = this.worlds, leader = ours && leaderAt(ours, this.t);
    if (!leader || this.asking || this.cut) return;
    this.asking = true;
    this.running = false;
    const since = Math.round((this.t - ours.begin) / 1e5) * 1e5, links = this.worlds.map(a => cutLink(a.script.head, since, leader.server));
    const note = byId('duel-says');
    try {
      say(note, 'Both worlds run again, with the cut…');
      this.worlds = await Promise.all(links.map(link => this.back.ask({ link })));
    } catch (error) {
      this.end(`The machines do not run: ${error instanceof Error ? error.message : String(error)}`);
      return;
    } finally {
      this.asking = false;
    }
    this.cut = { at: this.worlds[0].begin + since, server: leader.server, name: leader.name, link: links[0] };
    this.t = this.cut.at;
    const two = twoOf(this.worlds[1]);
    this.until = two ? two.at + SHOWN_TWO : this.cut.at + AFTER_CUT;
    byId('duel-cut').hidden = true;
    say(note, `${leader.name}’s server reaches no other server any more, and still answers ${leader.name}.`);
    if (this.still) this.finish(); else this.run();
  }

  run() {
    this.running = true;
    let last = performance.now();
    const frame = (/** @type {number} */ now) => {
      if (!this.running || !document.body.classList.contains('dueling')) { this.running = false; return; }
      this.t = Math.min(this.until, this.t + Math.min(now - last, LONGEST_FRAME) * 1e3 * SPEED);
      last = now;
      this.draw();
      if (this.t >= this.until) this.finish(); else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Stops where the worlds have come to: at two leaders, or where nothing was done for long. */
  finish() {
    this.running = false;
    this.t = this.until;
    this.draw();
    if (!this.cut) return;
    this.end(verdictOf(this.worlds[0], this.worlds[1]), twoOf(this.worlds[1]) ? 'bad' : '');
    byId('duel-again').hidden = false;
    byId('duel-again').focus();
  }

  /**
   * Says what has come of it.
   * @param {string} text
   * @param {string} [how]
   */
  end(text, how = '') {
    const note = byId('duel-says');
    note.className = how;
    say(note, text);
    say(byId('duel-open'), this.cut ? 'see why, and try other faults' : 'all faults and lessons');
  }

  draw() {
    if (this.worlds.length < 2) return;
    for (const [i, id] of ['duel-ours', 'duel-usual'].entries()) {
      const svg = byId(id), width = svg.clientWidth || 400, { height, shapes } = duelShapes(this.worlds[i], { t: this.t, cut: this.cut, width });
      svg.setAttribute('height', String(height));
      svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
      svg.replaceChildren(...shapes.map(paint));
    }
    const two = this.cut && twoOf(this.worlds[1]);
    byId('duel-usual-box').classList.toggle('bad', two !== undefined && this.t >= two.at);
  }
}
