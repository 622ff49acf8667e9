/** A place in the list; it has no neighbours any more once it was left. */
export interface Place<T> {
  readonly item: T;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * What is under way, oldest first. A `Set` would do, but for this: as a set is used, V8 replaces its table again and again, and
 * once it is old it leaves old tables behind, which keep everything that was under way from being collected until the
 * next collection of all memory.
 */
export class InFlight<T> implements Iterable<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns what `leave` takes */
  enter(item: T): Place<T> {
    const place: Place<T> = { item, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  /** @param place which must not have been left before */
  leave(place: Place<T>): void {
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    place.before = undefined;
    place.after = undefined;
    this.#size--;
  }

  /** Oldest first. The body of the loop may `leave` the place of the current item, and no other one. */
  *[Symbol.iterator](): Generator<T> {
    for (let place = this.#first; place !== undefined; ) {
      const { item, after } = place;
      yield item;
      place = after;
    }
  }
}
