import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../../../src/entity/index.ts";
import { BadRequestError, UnavailableError } from "../../../../src/kernel/index.ts";
import { createPasswordHasher } from "../../../../src/plugins/field-security/password/password-hasher.ts";
import { sourceFiles } from "../../../support/source-files.ts";
import { busyHasher, hashingOf } from "./hashers.ts";

const hasher = createPasswordHasher();
const cheap = { cost: 1 };

describe("a hash", () => {
  it("of PBKDF2 has 1000 · 2^cost iterations, a salt of 16 and a hash of 64 bytes", async () => {
    const [, name, iterations, salt = "", hash = ""] = (await hasher.hash("correct horse", { cost: 3 })).split("$");
    expect([name, iterations]).toEqual(["pbkdf2", "8000"]);
    expect(Buffer.from(salt, "base64").toString("base64")).toBe(salt);
    expect([salt, hash].map((text) => Buffer.from(text, "base64").length)).toEqual([16, 64]);
  });

  it("has cost 10 by default", async () => {
    expect(await hasher.hash("correct horse")).toMatch(/^\$pbkdf2\$1024000\$/);
  });

  it("is never the same twice", async () => {
    const [one, two] = await Promise.all([hasher.hash("correct horse", cheap), hasher.hash("correct horse", cheap)]);
    expect(one?.split("$")[3]).not.toBe(two?.split("$")[3]);
    expect(one?.split("$")[4]).not.toBe(two?.split("$")[4]);
  });

  it("verifies only its exact password", async () => {
    const stored = await hasher.hash(" Correct Horse ", cheap);
    expect(await hasher.verify(" Correct Horse ", stored)).toBe(true);
    for (const other of ["Correct Horse", " correct horse ", " Correct Horse", " Correct Horse  "])
      expect(await hasher.verify(other, stored)).toBe(false);
  });

  it("is compared in constant time only", () => {
    const files = sourceFiles("src/plugins/field-security/password");
    const matches = files.flatMap(({ text }) => text.match(/matches: async[^;]*?,\n/g) ?? []);
    expect(matches).toHaveLength(2);
    for (const match of matches) expect(match).toMatch(/timingSafeEqual\(await derive\w+\(/);
    for (const { path, text } of files) expect(text, path).not.toMatch(/\.equals\(|\bcompare\(/);
  });

  it("of a password that looks like a hash works, and is not a password itself", async () => {
    const lookalike = "$pbkdf2$1$AA==$AA==";
    const stored = await hasher.hash(lookalike, cheap);
    expect(stored).not.toContain(lookalike);
    expect(await hasher.verify(lookalike, stored)).toBe(true);
    expect(await hasher.verify(stored, stored)).toBe(false);
  });

  it.each([0, 15, 2.5, -1, "10", Number.NaN, null, "pbkdf2"])("cannot be of cost %j", async (cost) => {
    const wrong = { cost: cost as number };
    await expect(hasher.hash("correct horse", wrong)).rejects.toThrow(ConfigurationError);
    await expect(hasher.verify("correct horse", null, wrong)).rejects.toThrow(/whole number from 1 to 14/);
    await expect(hasher.verify("correct horse", "malformed", wrong)).rejects.toThrow(ConfigurationError);
  });
});

describe("a password that cannot be hashed", () => {
  it.each([
    ["nothing", undefined],
    ["a number", 12345678],
    ["empty", ""],
    ["1,025 bytes long", "x".repeat(1025)],
    ["1,026 bytes long in fewer characters", "é".repeat(513)],
    ["a megabyte long", "x".repeat(1_048_576)],
    ["half of a character", "correct \ud83d horse"],
    ["ended by NUL, which HMAC would not see", "correct horse\u0000"],
  ])("is refused before any work, and verifies for no user: %s", async (_, password) => {
    const stored = await hasher.hash("correct horse", cheap);
    const { hasher: busy, done } = busyHasher();
    const kinds = await hashingOf(async () => {
      await expect(busy.hash(password as string, cheap)).rejects.toThrow(BadRequestError);
      expect(await busy.verify(password, stored)).toBe(false);
      expect(await busy.verify(password, null)).toBe(false);
    });
    expect(kinds).toEqual([]);
    await done;
  });
});

describe("a missing user", () => {
  it.each([null, undefined])("has a stored hash of %s: false after the work of one hash", async (stored) => {
    const answers: boolean[] = [];
    const kinds = await hashingOf(async () => {
      answers.push(await hasher.verify("correct horse", stored, cheap));
      answers.push(await hasher.verify("correct horse", stored, { cost: "scrypt" }));
    });
    expect(answers).toEqual([false, false]);
    expect(kinds).toEqual(["PBKDF2REQUEST", "SCRYPTREQUEST"]);
  });

  it("is queued like any other", async () => {
    const { hasher: busy, done } = busyHasher();
    await expect(busy.verify("correct horse", null, cheap)).rejects.toThrow(UnavailableError);
    await done;
  });
});

describe("many hashes at once", () => {
  it("are accepted up to the queue's limit; the rest is refused with Retry-After", async () => {
    const small = createPasswordHasher({ concurrency: 1, queue: 2 });
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => small.hash("correct horse", cheap)));
    expect(results.map(({ status }) => status)).toEqual([
      ...["fulfilled", "fulfilled", "fulfilled"],
      ...["rejected", "rejected", "rejected"],
    ]);
    const error = (results[5] as PromiseRejectedResult).reason as UnavailableError;
    expect(error).toBeInstanceOf(UnavailableError);
    expect([error.status, error.headers]).toEqual([503, { "retry-after": "2" }]);
    expect(await small.verify("correct horse", await small.hash("correct horse", cheap))).toBe(true);
  });

  it("wait up to 64 by default", async () => {
    const one = createPasswordHasher({ concurrency: 1 });
    const results = await Promise.allSettled(Array.from({ length: 66 }, () => one.hash("correct horse", cheap)));
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
  });

  it("leave one thread free, however many hashers there are", async () => {
    let finished = 0;
    const hashers = [createPasswordHasher({ concurrency: 16 }), createPasswordHasher({ concurrency: 16 })];
    const hashes = hashers.flatMap((each) =>
      Array.from({ length: 16 }, async () => {
        await each.hash("correct horse", { cost: 5 });
        finished++;
      }),
    );
    expect((await readFile(new URL(import.meta.url))).length).toBeGreaterThan(0);
    expect(finished).toBeLessThan(16);
    await Promise.all(hashes);
    expect(finished).toBe(32);
  });

  it.each([{ concurrency: 0 }, { concurrency: 1.5 }, { concurrency: "2" }, { queue: -1 }, { queue: Number.NaN }])(
    "cannot be limited by %j",
    (options) => {
      expect(() => createPasswordHasher(options as object)).toThrow(ConfigurationError);
      expect(() => createPasswordHasher(options as object)).toThrow(/must be a whole number/);
    },
  );
});
