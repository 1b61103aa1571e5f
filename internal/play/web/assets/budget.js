// How often something may be done. It knows no clock.

/** So many at once, and so many a second after that. */
export class Budget {
  /**
   * @param {number} most
   * @param {number} perSecond
   */
  constructor(most, perSecond) {
    this.most = most;
    this.perSecond = perSecond;
    this.left = most;
    this.at = 0;
  }

  /**
   * Takes one. It returns 0, or after how many milliseconds there is one to take.
   * @param {number} now in milliseconds
   */
  take(now) {
    this.left = Math.min(this.most, this.left + (now - this.at) * this.perSecond / 1e3);
    this.at = now;
    if (this.left < 1) return Math.ceil((1 - this.left) * 1e3 / this.perSecond);
    this.left--;
    return 0;
  }
}
