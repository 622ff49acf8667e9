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

/** Gives out the slots of one statement, in the order in which `Values` collects what goes into them. */
export class Slots {
  #count = 0;

  next(type: ArgType): Slot {
    return new Slot(this.#count++, type);
  }
}
