let armed: { readonly point: string; readonly error: unknown } | undefined;
let thrown = 0;

/** Places in the fixture app that can be made to fail, one at a time. */
export const sabotage = {
  /** Makes a place throw from now on; without arguments, disarms all places. */
  arm(point?: string, error?: unknown): void {
    armed = point === undefined ? undefined : { point, error };
    thrown = 0;
  },
  /** Throws if this place is armed; otherwise returns true, so that it can be used in a condition. */
  reach(point: string): true {
    if (armed?.point !== point) return true;
    thrown++;
    throw armed.error;
  },
  /** How often the armed place threw. */
  get thrown(): number {
    return thrown;
  },
};
