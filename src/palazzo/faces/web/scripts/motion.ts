/** Movement of points: from each position of a layout to the next in even steps. */

const LONGEST_STEP_MS = 250;

/**
 * The positions of a moving layout. The worker sends new ones some ten times a second; between two of them every point
 * goes straight from the old place to the new one, in the time that the step before took.
 */
export class Motion {
  private from = new Float32Array(0);
  private to = new Float32Array(0);
  private since = 0;
  private lasts = 0;

  /** Takes new positions; `now` is a time in milliseconds. Points go on from where they are shown. */
  push(positions: Float32Array<ArrayBuffer>, now: number): void {
    const isFirst = this.to.length !== positions.length;
    this.from = isFirst ? positions : this.at(now);
    this.lasts = isFirst ? 0 : Math.min(now - this.since, LONGEST_STEP_MS);
    this.to = positions;
    this.since = now;
  }

  isMoving(now: number): boolean {
    return now - this.since < this.lasts;
  }

  /** Returns the positions to show at a time. */
  at(now: number): Float32Array<ArrayBuffer> {
    if (!this.isMoving(now)) return this.to;
    const share = (now - this.since) / this.lasts;
    return this.to.map((end, n) => {
      const start = this.from[n] ?? end;
      return start + (end - start) * share;
    });
  }
}
