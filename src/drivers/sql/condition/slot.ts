import type { ArgType } from "@prisma/driver-adapter-utils";

/** A place for a value in a statement that is compiled before there are values. */
export class Slot {
  /** Which of the operation's values goes here. */
  readonly index: number;
  readonly type: ArgType;

  constructor(index: number, type: ArgType) {
    this.index = index;
    this.type = type;
  }
}

/** What stands for the values of a condition, in their order. */
export interface Places {
  next(type: ArgType): unknown;
}

/** Gives out the slots of one statement, in the order in which `Values` collects what goes into them. */
export class Slots implements Places {
  #count = 0;

  next(type: ArgType): Slot {
    return new Slot(this.#count++, type);
  }
}

/** Gives out what has been put somewhere in the statement already, for as many values from one of them on. */
export class PlacesOf implements Places {
  #index: number;
  readonly #at: (index: number) => unknown;

  constructor(first: number, at: (index: number) => unknown) {
    this.#index = first;
    this.#at = at;
  }

  next(): unknown {
    return this.#at(this.#index++);
  }
}
