// A world behind the lanes: it has links answered by a back end, and draws the answers.
import './types.js';
import './answers.js';
import { duration, layout } from './picture.js';
import { isRecord, keyOf, timeOf } from './model.js';
import { byId, paint, say } from './dom.js';
import { View } from './view.js';
import { Budget } from './budget.js';
import { deedText, kept, linkOf, splitAddress, timeless, toggled, undone } from './link.js';
import { ghostOf, known } from './known.js';
import { marks, serverRows } from './marks.js';
import { VERB_KEYS, chosenWorld, field, kindOf, moment, outcome, showDeeds, showLesson, showParts, showPromises, showTargets, showVerbs, showWorld, targetText } from './panel.js';

/** @typedef {import('./types.js').Rec} Rec */
/** @typedef {import('./answers.js').Answer} Answer */
/** @typedef {import('./answers.js').Verb} Verb */

/** How far a world is run behind a deed, so that what comes of it can be seen: microseconds. */
const AFTER = 1e7;
/** The least time between two drawings while the world runs: milliseconds. */
const FRAME = 40;
/** The most time that passes in one: a hidden page draws none. */
const LONGEST = 250;
/** How often the address is written: browsers refuse more than 100 times in 30 s. */
const WRITES = { most: 40, perSecond: 2 };

/** @typedef {{link?: string, until?: number, steps?: number}} Query a link: another one than before; until: microseconds since the world began */

/**
 * What an error says.
 * @param {unknown} error
 */
export function words(error) { return error instanceof Error ? error.message : String(error); }

export class Play {
  /**
   * @param {import('./backend.js').Backend} back
   * @param {import('./answers.js').Catalogue} catalogue
   */
  constructor(back, catalogue) {
    this.back = back;
    this.catalogue = catalogue;
    /** @type {Answer | undefined} */
    this.answer = undefined;
    /** @type {Answer | undefined} */
    this.next = undefined;
    this.cursor = 0;
    this.target = catalogue.names[0];
    this.scrubbing = false;
    this.asking = false;
    this.turn = Promise.resolve(true);
    this.writes = new Budget(WRITES.most, WRITES.perSecond);
    this.writesLater = 0;
    this.running = false;
    /** @type {import('./answers.js').Lesson | undefined} */
    this.lesson = undefined;
    /** @type {{title: string, answer: Answer, ghost: import('./types.js').Picture} | undefined} */
    this.beside = undefined;
    /** @type {import('./types.js').Picture | undefined} */
    this.ghost = undefined;
    /** @type {import('./known.js').Standing[]} */
    this.second = [];
    this.view = new View({
      selected: item => this.selected(item), extra: view => this.extra(view), bounds: () => this.bounds(), at: () => this.cursor, keys: this.keys(),
      gone: (name, t) => this.answer?.participants.some(p => p.name === name && p.dead && p.pauses.some(s => s.to === 0 && s.from <= t)) ?? false,
      taken: () => { this.answer = this.next; }, last: () => this.one(),
    });
  }

  /**
   * Asks for a world, and shows the answer; false if it was refused. One question at a time, in their order.
   * @param {(a: Answer | undefined) => Query} make makes the question, when it is its turn
   * @param {number} [cursor] where to be afterwards
   * @returns {Promise<boolean>}
   */
  ask(make, cursor) {
    this.turn = this.turn.then(() => this.askNow(make, cursor));
    return this.turn;
  }

  /**
   * @param {(a: Answer | undefined) => Query} make
   * @param {number} [cursor]
   */
  async askNow(make, cursor) {
    this.asking = true;
    say(byId('world-state'), '…');
    const began = performance.now(), a = this.answer, { model } = this.view;
    try {
      const q = make(a), have = a && Object.fromEntries([...model.logs].map(([name, all]) => [name, all.length]));
      const answer = await this.back.ask({ link: timeless(a?.link ?? ''), until: q.steps && a ? a.now - a.begin : undefined, ...q, key: a?.key, have, charts: Object.keys(model.charts) });
      this.take(answer, cursor);
      say(byId('world-state'), `${answer.records} records in ${duration((performance.now() - began) * 1e3)}${answer.stopped ? `; ${answer.stopped}` : ''}`);
      say(byId('trouble'), '');
      return true;
    } catch (error) {
      this.stop();
      say(byId('world-state'), '');
      say(byId('trouble'), `Refused: ${words(error)}`, 600);
      return false;
    } finally {
      this.asking = false;
    }
  }

  /**
   * Shows an answer.
   * @param {Answer} answer
   * @param {number} [cursor]
   */
  take(answer, cursor) {
    const before = this.answer, bounds = before && this.bounds(), other = !before || before.script.head !== answer.script.head;
    const whole = !bounds || other || this.view.view[0] <= bounds[0] + 1 && this.view.view[1] >= bounds[1] - 1;
    const { picture, second } = known(answer);
    this.second = second;
    this.ghost = answer.before && ghostOf(answer.before.document.picture, answer);
    if (timeless(answer.link) !== timeless(this.lesson?.link ?? '')) this.beside = undefined;
    this.next = answer;
    document.body.dataset.digest = answer.digest;
    this.scrubbing = true;
    if (before) this.cursor = Math.min(cursor ?? this.cursor, answer.now);
    else this.cursor = answer.now;
    this.view.take({ ...answer.document, picture }, answer.fresh);
    this.scrubbing = false;
    if (whole) this.view.view = this.bounds();
    if (other) showWorld(answer.script);
    if (kindOf(answer, this.target) === 'participant' && !answer.participants.some(p => p.name === this.target)) this.target = answer.participants[0].name;
    this.panels();
    this.seek(this.cursor);
  }

  panels() {
    const a = this.answer;
    if (!a) return;
    showDeeds(a, { toggle: i => void this.change(deeds => toggled(deeds, i)), drop: i => void this.change(deeds => deeds.filter((_, n) => n !== i).map(d => d.text)), go: t => this.seek(t) });
    showParts(a);
    showPromises(a, this.beside && { title: this.beside.title, promises: this.beside.answer.promises }, t => this.seek(t));
    this.choose(this.target);
    const scrub = field('scrub');
    scrub.max = String(Math.ceil((a.now - a.begin) / 1e3));
  }

  /** What has been run, with a little air. @returns {[number, number]} */
  bounds() {
    const a = this.next ?? this.answer;
    if (!a) return [0, 1e6];
    const air = Math.max(2e4, (a.now - a.begin) * 0.01);
    return [a.begin - air, a.now + air];
  }

  /**
   * @param {import('./picture.js').View} view
   * @returns {import('./view.js').Extra}
   */
  extra(view) {
    const a = this.answer;
    if (!a) return { behind: [], before: [] };
    const { picture } = this.view.model, l = layout(picture, view), box = byId('servers');
    const rows = serverRows(a, l, view, { cursor: this.cursor, target: this.target });
    box.setAttribute('height', String(rows.height));
    box.replaceChildren(...rows.shapes.map(paint));
    return marks(a, l, picture, view, { cursor: this.cursor, ghost: this.ghost ?? this.beside?.ghost, second: this.second, focus: this.target });
  }

  /**
   * Hears of the item that was selected: the cursor goes there.
   * @param {import('./types.js').Rec | import('./types.js').Txn} item
   */
  selected(item) {
    if (!this.scrubbing) this.cursor = Math.min(timeOf(item), this.answer?.now ?? 0);
    this.showCursor();
    if (!this.running) this.address();
  }

  showCursor() {
    const a = this.answer;
    if (!a) return;
    say(byId('clock'), moment(this.cursor));
    field('scrub').value = String(Math.round((this.cursor - a.begin) / 1e3));
  }

  /** Shows the link, and writes the address. */
  address() {
    const a = this.answer;
    if (!a) return;
    field('link').value = `${location.href.split('#', 1)[0]}#${a.link}`;
    say(byId('link-size'), `${a.link.length} characters`);
    this.writeAddress();
  }

  /** Writes the address, the link and what is selected: now, or as soon as the browser allows it. */
  writeAddress() {
    clearTimeout(this.writesLater);
    const wait = this.writes.take(performance.now()), { current } = this.view;
    if (wait > 0) {
      this.writesLater = setTimeout(() => this.writeAddress(), wait);
      return;
    }
    const at = current && isRecord(current) ? `!${encodeURIComponent(keyOf(current))}` : '';
    history.replaceState(null, '', `#${this.answer?.link}${at}`);
  }

  /**
   * Moves the cursor, and selects the last record of the chosen participant's recipe until then.
   * @param {number} t
   */
  seek(t) {
    const a = this.answer;
    if (!a) return;
    this.cursor = Math.min(Math.max(t, a.begin), a.now);
    const rec = this.near();
    this.scrubbing = true;
    if (rec && rec !== this.view.current) this.view.go(rec, true); else this.view.draw();
    this.scrubbing = false;
    this.showCursor();
  }

  /** The last record until the cursor: of the chosen participant's recipe, of anything of it, or of anybody. */
  near() {
    const { model } = this.view, log = model.logs.get(this.target) ?? [], upTo = (/** @type {Rec} */ r) => r.t <= this.cursor;
    return log.findLast(r => upTo(r) && r.machine !== 'session') ?? log.findLast(upTo) ?? model.all.findLast(upTo) ?? model.all[0];
  }

  /**
   * Goes to the next event of the cursor, or to the one before.
   * @param {number} by
   */
  step(by) {
    const { current, list } = this.view;
    if (!current || !isRecord(current) || timeOf(current) === this.cursor) { this.view.step(by); return; }
    const next = by > 0 ? list.kept.find(r => r.t > this.cursor) : list.kept.findLast(r => r.t < this.cursor);
    if (next) this.view.go(next); else if (by > 0) this.one();
  }

  /** @param {string} target */
  choose(target) {
    const a = this.answer;
    if (!a) return;
    this.target = target;
    showTargets(a, target, name => this.choose(name));
    showVerbs(this.catalogue, kindOf(a, target), verb => void this.deed(verb));
    say(byId('target-state'), targetText(a, target));
    this.view.draw();
  }

  /**
   * Does something at the cursor.
   * @param {Verb} verb
   */
  async deed(verb) {
    const now = this.answer;
    if (!now) return;
    const kind = kindOf(now, this.target), note = byId('answer');
    if (verb.to !== 'ensemble' && verb.to !== kind) {
      note.className = 'bad';
      say(note, `${verb.verb} is done to a ${verb.to}: choose one`);
      return;
    }
    const us = Math.round(this.cursor - now.begin), lasts = verb.lasts ? field('lasts').value.trim() || String(verb.for / 1e6) : '';
    const text = deedText({ mark: field('what-if').checked || now.before ? '+' : '', us, verb: verb.verb, target: verb.to === 'ensemble' ? '' : this.target, lasts });
    const behind = us + (this.running ? 5e5 : AFTER), most = this.catalogue.limits.until;
    const done = await this.ask(a => a ? { link: linkOf(a.script.head, [...a.script.deeds.map(d => d.text), text]), until: Math.min(Math.max(a.now - a.begin, behind), most) } : {}, this.cursor);
    if (!done) return;
    this.tell(text);
  }

  /**
   * Says what came of a deed.
   * @param {string} text
   */
  tell(text) {
    const a = this.answer;
    if (!a) return;
    const i = a.script.deeds.findLastIndex(d => d.text === text), note = byId('answer');
    if (i < 0) return;
    const came = outcome(a, i), d = a.script.deeds[i];
    note.className = came.how;
    say(note, `${moment(d.at)} ${d.verb} ${d.target ?? ''}: ${came.text}`);
  }

  /**
   * Runs the world again with other deeds.
   * @param {(deeds: import('./answers.js').Deed[]) => string[]} make
   */
  change(make) {
    return this.ask(a => a ? { link: linkOf(a.script.head, make(a.script.deeds)), until: a.now - a.begin } : {}, this.cursor);
  }

  /** Runs the world until the next record, and goes there. */
  one() { if (!this.asking) void this.ask(() => ({ steps: 1 }), Infinity); }

  /**
   * Runs the world further.
   * @param {number} us
   */
  further(us) {
    void this.ask(a => ({ until: Math.min((a ? a.now - a.begin : 0) + us, this.catalogue.limits.until) }), this.cursor);
  }

  run() {
    if (this.running) { this.stop(); return; }
    this.running = true;
    this.showRunning();
    let last = performance.now();
    const frame = (/** @type {number} */ now) => {
      const a = this.answer;
      if (!this.running || !a) return;
      if (now - last >= FRAME) {
        const speed = Number(field('speed').value), to = this.cursor + Math.min(now - last, LONGEST) * 1e3 * speed, ahead = 1e6 * speed, end = a.begin + this.catalogue.limits.until;
        last = now;
        if (to + ahead > a.now && !this.asking && !a.stopped && a.now < end) void this.ask(() => ({ until: Math.min(to + 2 * ahead - a.begin, this.catalogue.limits.until) }));
        this.seek(to);
        if (this.cursor >= a.now && (a.stopped || a.now >= end)) this.stop();
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  stop() {
    this.running = false;
    this.showRunning();
    this.address();
  }

  showRunning() {
    say(byId('run'), this.running ? '❚❚' : '▶');
    byId('run').setAttribute('aria-pressed', String(this.running));
  }

  /** More keys of the page. @returns {Record<string, () => void>} */
  keys() {
    /** @type {Record<string, () => void>} */
    const all = {
      ' ': () => this.run(), '>': () => this.further(AFTER), Home: () => this.seek(0), End: () => this.seek(Infinity), '~': () => this.choose(''),
      q: () => field('what-if').click(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
    };
    for (const verb of this.catalogue.deeds) {
      const key = VERB_KEYS.get(verb.verb);
      if (key) all[key] = () => { void this.deed(verb); };
    }
    this.catalogue.names.forEach((name, i) => { all[String(i + 1)] = () => { if (this.answer?.participants[i]) this.choose(name); }; });
    for (const server of 'abcde') all[server.toUpperCase()] = () => { if (this.answer?.servers.some(s => s.name === server)) this.choose(server); };
    return all;
  }

  /**
   * Opens what an address holds.
   * @param {string} hash
   */
  async open(hash) {
    const { link, selected } = splitAddress(hash);
    this.stop();
    const lesson = this.catalogue.lessons.find(l => timeless(l.link) === timeless(link));
    if (!await this.ask(() => ({ link: link || this.catalogue.first, until: undefined }), Infinity)) return false;
    this.lesson = lesson;
    showLesson(this.catalogue, lesson);
    say(byId('answer'), '');
    if (lesson) this.choose(lesson.focus);
    this.seek(this.cursor);
    if (selected) this.view.goTo(selected, true);
    this.address();
    await this.besides(lesson);
    return true;
  }

  /**
   * Asks for the world of a lesson's counterpart, whose picture is the ghost, unless another link is opened meanwhile.
   * @param {import('./answers.js').Lesson | undefined} lesson
   */
  async besides(lesson) {
    const other = this.catalogue.lessons.find(l => l.id === lesson?.counterpart);
    /** @type {Play['beside']} */
    let beside;
    try {
      const answer = other && await this.back.ask({ link: other.link });
      beside = other && answer && { title: other.title, answer, ghost: known(answer).picture };
    } catch (error) {
      if (this.lesson === lesson) say(byId('trouble'), `“${other?.title}” cannot be shown next to it: ${words(error)}`, 600);
    }
    if (this.lesson !== lesson) return;
    this.beside = beside;
    this.panels();
  }

  /** Says that no world can be played yet, as long as it is so: the one that is shown comes from a file. */
  async starting() {
    const note = byId('answer'), text = 'The machines are starting. Look around: what you do is carried out when they run.';
    note.className = '';
    say(note, text);
    try {
      await this.back.started;
      document.body.dataset.deeds = duration(performance.now() * 1e3);
    } catch (error) {
      say(byId('trouble'), `The machines do not run, so this world can only be looked at: ${words(error)}`, 600);
    }
    if (note.textContent === text) say(note, '');
  }

  /** Connects buttons and fields. */
  listen() {
    this.view.listen();
    /** @type {[string, () => void][]} */
    const buttons = [['run', () => this.run()], ['step', () => this.step(1)], ['further', () => this.further(AFTER)],
      ['keep', () => void this.change(kept)], ['undo', () => void this.change(undone)],
      ['counterpart', () => this.goLesson(this.lesson?.counterpart ?? '')], ['copy', () => void this.copy()],
      ['world-same', () => void this.ask(a => a ? { link: linkOf(chosenWorld(), a.script.deeds.map(d => d.text)), until: a.now - a.begin } : {}, Infinity)]];
    for (const [id, does] of buttons) byId(id).addEventListener('click', does);
    byId('world').addEventListener('submit', event => { event.preventDefault(); this.goLink(`${chosenWorld()}@20`); });
    field('scrub').addEventListener('input', () => { if (this.answer) this.seek(this.answer.begin + Number(field('scrub').value) * 1e3); });
    addEventListener('hashchange', event => void this.open(event.newURL.replace(/^[^#]*/, ''))); // the address may be written again meanwhile
    byId('servers').addEventListener('click', event => {
      const key = event.target instanceof Element ? event.target.closest('[data-key]')?.getAttribute('data-key') : undefined;
      if (key) this.choose(key.split(' ')[1]);
    });
    byId('lanes').addEventListener('click', event => this.point(event));
  }

  /** A click on a lane chooses its participant. @param {MouseEvent} event */
  point(event) {
    const { picture } = this.view.model, l = layout(picture, this.view.asked()), y = event.clientY - byId('lanes').getBoundingClientRect().top;
    const lane = l.lanes.findIndex((_, i) => y >= l.top(i) && y < l.top(i + 1));
    if (lane >= 0) this.choose(picture.logs[l.lanes[lane].log].name);
  }

  /** @param {string} id */
  goLesson(id) {
    const lesson = this.catalogue.lessons.find(l => l.id === id);
    if (!lesson) return;
    const box = /** @type {HTMLDetailsElement} */ (byId('lessons-box'));
    box.open = false;
    this.goLink(lesson.link);
  }

  /**
   * Opens a link, and leaves the one before to the browser's way back.
   * @param {string} link
   */
  goLink(link) {
    const before = location.hash;
    location.hash = `#${link}`;
    if (location.hash === before) void this.open(before);
  }

  async copy() {
    const link = field('link');
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
      say(byId('link-size'), 'copied');
    } catch {
      say(byId('link-size'), 'selected: copy it by hand');
    }
  }
}
