import { describe, expect, it } from "vitest";
import { createHashQueue } from "../../../../src/plugins/field-security/password/hash-queue.ts";
import { deferred } from "../../../support/deferred.ts";

/** Pieces of work that say when they begin, and end when told. */
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
  it("runs as many at once as it may, and the others in the order they came", async () => {
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

  it("lets nobody who comes later get ahead of who waits", async () => {
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

  it("gives the place of work that fails to the next", async () => {
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

  it("refuses what finds it full, and takes more when there is room again", async () => {
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
});
