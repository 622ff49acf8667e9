import { describe, expect, it } from "vitest";
import {
  belongsTo,
  ConfigurationError,
  entity,
  getRemoteRelationFields,
  hasMany,
  hasRemoteRelations,
  ServiceContainer,
  splitIncludes,
  string,
  validateRemoteRelations,
} from "../../../src/index.ts";
import { answering, customer, subscription } from "./shop.ts";

const order = entity("order", {
  customer: belongsTo(() => customer),
  invoice: belongsTo(() => subscription).remote("billing"),
  parcel: belongsTo(() => subscription).remote(),
});

describe("getRemoteRelationFields and hasRemoteRelations", () => {
  it("recognise remote relations of builders and definitions", () => {
    expect(getRemoteRelationFields(order)).toEqual(["invoice", "parcel"]);
    expect(getRemoteRelationFields(order.build())).toEqual(["invoice", "parcel"]);
    expect(getRemoteRelationFields(subscription)).toEqual([]);
    expect([hasRemoteRelations(order), hasRemoteRelations(subscription)]).toEqual([true, false]);
  });
});

describe("splitIncludes", () => {
  it.each([
    ["a map", { customer: true, invoice: { plan: true }, parcel: false, nobody: true }],
    ["paths", ["customer", "invoice.plan", "nobody"]],
    ["a tree", { customer: {}, invoice: { plan: {} }, nobody: {} }],
  ])("separates local relations from remote ones in %s; unknown names count as local", (_name, include) => {
    expect(splitIncludes(order, include)).toEqual({
      local: { customer: true, nobody: true },
      remote: { invoice: { plan: true } },
    });
  });

  it("keeps names that are special in JavaScript", () => {
    const { local, remote } = splitIncludes(order, ["__proto__.polluted", "constructor"]);
    expect([Object.keys(local), remote]).toEqual([["__proto__", "constructor"], {}]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("returns nothing without an include", () => {
    expect(splitIncludes(order, undefined)).toEqual({ local: {}, remote: {} });
  });
});

describe("validateRemoteRelations", () => {
  const problemsOf = (
    container: ServiceContainer,
    ...more: Parameters<typeof getRemoteRelationFields>[0][]
  ): readonly string[] => {
    try {
      validateRemoteRelations([order, ...more], container);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as ConfigurationError).problems;
    }
  };

  it("accepts registered services, and promises of them", () => {
    expect(problemsOf(new ServiceContainer().register("billing", () => answering()))).toEqual([]);
    expect(problemsOf(new ServiceContainer().register("billing", async () => answering()))).toEqual([]);
    expect(problemsOf(new ServiceContainer().register("billing", () => Promise.reject(new TypeError())))).toEqual([]);
  });

  it("lists all problems, and says what to do", () => {
    const list = entity("basket", { title: string, orders: hasMany(() => order).remote("orders") });
    expect(problemsOf(new ServiceContainer(), list)).toEqual([
      'order.invoice: there is no service "billing"; register it with api.registerService("billing", factory)',
      "basket.orders: hasMany cannot be .remote(), since services are asked by id; use belongsTo",
      'basket.orders: there is no service "orders"; register it with api.registerService("orders", factory)',
    ]);
  });

  it("finds values that are not services, and services whose factory fails", () => {
    const odd = new ServiceContainer().register("billing", () => ({ fetch: true }));
    expect(problemsOf(odd)).toEqual(['the service "billing" has no function fetchByIds(entityName, ids, options)']);
    const broken = new ServiceContainer().register("billing", () => {
      throw new TypeError("canary");
    });
    expect(problemsOf(broken)).toEqual(['the service "billing" cannot be made: its factory throws']);
  });

  it("accepts entities by name too", () => {
    const container = new ServiceContainer();
    expect(() => validateRemoteRelations({ order }, container)).toThrow(/no service "billing"/);
    expect(() => validateRemoteRelations(new Map([["order", order]]), container)).toThrow(/no service "billing"/);
  });
});
