import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createHashQueue } from "../../../../src/plugins/field-security/password/password-hasher.ts";
import { deferred } from "../../../support/deferred.ts";

/** Tasks that record their start, and end on request. */
function pieces(count: number) {
  const begun: number[] = [];
  const ends = Array.from({ length: count }, () => deferred<void>());
  const work = (index: number) => async () => {
    begun.push(index);
    await ends[index]?.promise;
    return index;
  };
  return { begun, end: (index: number) => ends[index]?.resolve(), work };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a hash queue", () => {
  it("runs up to its limit at once, and the others in order of arrival", async () => {
    const queue = createHashQueue({ concurrency: 2, queue: 10 });
    const { begun, end, work } = pieces(5);
    const results = Promise.all([0, 1, 2, 3, 4].map((index) => queue(work(index))));
    await settled();
    expect(begun).toEqual([0, 1]);
    end(1);
    await settled();
    expect(begun).toEqual([0, 1, 2]);
    for (const index of [0, 2, 3, 4]) end(index);
    expect(await results).toEqual([0, 1, 2, 3, 4]);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it("allows no later caller to overtake a waiting one", async () => {
    const queue = createHashQueue({ concurrency: 1, queue: 10 });
    const { begun, end, work } = pieces(3);
    const first = queue(work(0));
    const second = queue(work(1));
    end(0);
    const third = first.then(() => queue(work(2)));
    end(1);
    end(2);
    await Promise.all([second, third]);
    expect(begun).toEqual([0, 1, 2]);
  });

  it("gives the slot of failed work to the next", async () => {
    const queue = createHashQueue({ concurrency: 1, queue: 1 });
    const refused = new RangeError("refused");
    const failed = queue(() => Promise.reject(refused));
    const thrown = queue(() => {
      throw refused;
    });
    await expect(failed).rejects.toBe(refused);
    await expect(thrown).rejects.toBe(refused);
    expect(await queue(() => Promise.resolve("done"))).toBe("done");
  });

  it("refuses work when it is full, and accepts more when there is room again", async () => {
    const queue = createHashQueue({ concurrency: 1, queue: 1 });
    const { begun, end, work } = pieces(3);
    const taken = [queue(work(0)), queue(work(1))];
    await expect(queue(work(2))).rejects.toMatchObject({ status: 503, headers: { "retry-after": "2" } });
    end(0);
    await taken[0];
    taken.push(queue(work(2)));
    end(1);
    end(2);
    expect(await Promise.all(taken)).toEqual([0, 1, 2]);
    expect(begun).toEqual([0, 1, 2]);
  });

  it("removes waiting work whose signal aborts, and accepts other work", async () => {
    const queue = createHashQueue({ concurrency: 1, queue: 2 });
    const { begun, end, work } = pieces(4);
    const [one, two] = [new AbortController(), new AbortController()];
    const taken = [queue(work(0), one.signal), queue(work(2), two.signal)];
    const gone = queue(work(1), one.signal);
    one.abort();
    await expect(gone).rejects.toMatchObject({ status: 503, headers: { "retry-after": "2" } });
    taken.push(queue(work(3)));
    for (const index of [0, 1, 2, 3]) end(index);
    expect(await Promise.all(taken)).toEqual([0, 2, 3]);
    expect(begun).toEqual([0, 2, 3]);
  });

  it("does not start aborted work, and keeps its slot for others", async () => {
    const queue = createHashQueue({ concurrency: 1, queue: 0 });
    const { begun, end, work } = pieces(2);
    await expect(queue(work(0), AbortSignal.abort())).rejects.toMatchObject({ status: 503 });
    end(1);
    expect(await queue(work(1))).toBe(1);
    expect(begun).toEqual([1]);
  });

  it("leaves no listener on a signal that outlives the work", async () => {
    const queue = createHashQueue({ concurrency: 1, queue: 1 });
    const { end, work } = pieces(2);
    const { signal } = new AbortController();
    const both = Promise.all([queue(work(0), signal), queue(work(1), signal)]);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    end(0);
    end(1);
    await both;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
