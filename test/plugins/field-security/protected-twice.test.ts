import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ConfigurationError,
  countValuesPerKey,
  createEnhancedDriver,
  type Driver,
  type EntityLike,
  entity,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  type Row,
  rotateEncryptionKeys,
  string,
  text,
} from "../../../src/index.ts";
import { createHandlerApp } from "./handler-app.ts";

const encryption = { key: "ab".repeat(32) };
const rules = { read: ["everyone"], create: ["everyone"] };
const note = entity("note", { secret: text.encrypted() }).rules(rules);
const user = entity("user", { password: string.password({ cost: 8 }) }).rules(rules);
const ruled = entity("ruled", { name: string, salary: int.readable("admin") }).rules(rules);
const refusal = new ConfigurationError(
  "this driver hashes and encrypts already, and would do it twice; pass the base driver, such as api.driver",
);

/** Drivers that protect stored values, by each way in which code gets them. */
const PROTECTED: readonly (readonly [string, EntityLike, (use: (driver: Driver) => Promise<void>) => Promise<void>])[] =
  [note, user].flatMap((one) => {
    const { name } = one;
    const inApp = async (use: (driver: Driver) => Promise<void>, isIn: "scope" | "transaction" | "service") => {
      const app = createHandlerApp({ entities: [one], encryption });
      await app.inHandler(async (scope) => {
        if (isIn === "scope") await use(scope.driver);
        else if (isIn === "transaction") await scope.transaction((inner) => use(inner.driver));
        else await use(scope.services.resolve<Driver>("driver"));
        await scope.driver.transaction(use);
      });
      await app.close();
    };
    const enhanced = () => createEnhancedDriver(memoryDriver(), { entities: [one], encryption, user: null });
    return [
      [`${name}: a handler's`, one, (use) => inApp(use, "scope")],
      [`${name}: of a transaction`, one, (use) => inApp(use, "transaction")],
      [`${name}: of a service`, one, (use) => inApp(use, "service")],
      [`${name}: an enhanced one`, one, (use) => use(enhanced())],
      [
        `${name}: an enhanced one's transaction`,
        one,
        async (use) => {
          const driver = enhanced();
          await driver.connect();
          await driver.transaction(use);
        },
      ],
    ];
  });

describe("a driver that protects what it stores", () => {
  it.each(PROTECTED)("is not wrapped a second time: %s", async (_, one, open) => {
    let asked = 0;
    await open(async (driver) => {
      asked++;
      expect(() => createEnhancedDriver(driver, { entities: [one], encryption })).toThrow(refusal);
      expect(() => createEnhancedDriver(driver, { entities: [one], encryption, user: null })).toThrow(refusal);
      expect(() => keelson({ entities: [one], driver, encryption, logger: noopLogger })).toThrow(refusal);
      await expect(rotateEncryptionKeys({ driver, entities: [one], encryption })).rejects.toThrow(refusal);
      await expect(countValuesPerKey(driver, [one])).rejects.toThrow(refusal);
    });
    expect(asked).toBeGreaterThan(0);
  });

  it("may be narrowed to a user's view without protecting values twice", async () => {
    const app = createHandlerApp({ entities: [ruled, note], encryption });
    await app.api.asSystem().ruled.create({ id: "r", name: "n", salary: 7 });
    const { value } = await app.inHandler(({ driver }) =>
      createEnhancedDriver(driver, { entities: [ruled], user: { id: "ann" } }).findOne(ruled, { id: "r" }),
    );
    expect(value).toMatchObject({ name: "n" });
    expect(value).not.toHaveProperty("salary");
    await app.close();
  });
});

describe("a base driver", () => {
  const base = memoryDriver();
  const driver = createEnhancedDriver(base, { entities: [note, user], encryption });
  beforeAll(() => driver.connect());
  afterAll(() => driver.disconnect());

  it("is protected once by each of several drivers around it", async () => {
    const now = new Date();
    await driver.create(note, { id: "n", secret: "s", createdAt: now, updatedAt: now });
    const other = createEnhancedDriver(base, { entities: [note], encryption });
    expect(((await other.findOne(note, { id: "n" })) as Row).secret).toBe("s");
    const { failed } = await rotateEncryptionKeys({ driver: base, entities: [note], encryption });
    expect(failed).toBe(0);
  });
});
