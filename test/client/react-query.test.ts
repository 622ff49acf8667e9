import * as newest from "@tanstack/react-query";
import { createQueries } from "keelson/react-query";
import * as oldest from "react-query-oldest";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OPERATORS } from "../../src/entity/index.ts";
import { openShop } from "./shop.ts";

type Library = typeof newest;
const LIBRARIES: Readonly<Record<string, Library>> = {
  "the newest version": newest,
  "the oldest version": oldest as unknown as Library,
};

describe.each(Object.entries(LIBRARIES))("queries under %s of TanStack Query", (_, library) => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  let cache: newest.QueryClient;
  const queriesOf = (token?: string) => createQueries(shop.clientOf(token));
  const stale = (): string[] =>
    cache
      .getQueryCache()
      .getAll()
      .filter(({ state }) => state.isInvalidated)
      .map(({ queryKey }) => queryKey.slice(1, 3).join("."))
      .sort();

  beforeEach(async () => {
    shop = await openShop();
    cache = new library.QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 60_000 } } });
  });
  afterEach(async () => {
    cache.clear();
    await shop.close();
  });

  /** Runs a mutation as `useMutation` does. */
  const mutate = <T, V>(options: newest.UseMutationOptions<T, Error, V>, variables: V): Promise<T> =>
    new library.MutationObserver(cache, options).mutate(variables);

  it("return the client's results, and are cached by entity, call and arguments", async () => {
    const queries = queriesOf("root");
    const page = await cache.fetchQuery(
      queries.orderItem.list.queryOptions({ where: { count: { gte: 5 } }, limit: 3, include: ["owner"] }),
    );
    expect(page.data).toHaveLength(3);
    expect(page.data[0]?.owner?.name).toMatch(/ann|bob/);
    expect(await cache.fetchQuery(queries.person.get.queryOptions("ann"))).toMatchObject({ name: "ann" });
    expect(await cache.fetchQuery(queries.orderItem.count.queryOptions({ isOpen: true }))).toBe(13);
    expect(await cache.fetchQuery(queries.orderItem.greet.queryOptions({ name: "Ann" }))).toMatchObject({
      said: "Hello Ann",
    });
    const { queryKey } = queries.person.get.queryOptions("ann");
    expect(queryKey).toEqual(["keelson", "person", "get", "ann"]);
    expect(cache.getQueryData(queryKey)?.name).toBe("ann");
    expect(queries.person.queryKey()).toEqual(queryKey.slice(0, 2));
    expect(queries.orderItem.count.queryKey()).toEqual(["keelson", "orderItem", "count"]);
  });

  it("fetch pages by cursor until the last one", async () => {
    const { orderItem } = queriesOf();
    const observer = new library.InfiniteQueryObserver(cache, orderItem.list.infiniteQueryOptions({ limit: 10 }));
    await observer.fetchNextPage();
    while (observer.getCurrentResult().hasNextPage) await observer.fetchNextPage();
    const pages = observer.getCurrentResult().data?.pages ?? [];
    expect(pages.map(({ data }) => data.length)).toEqual([10, 10, 5]);
    expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(25);
  });

  it("become stale after a change of their entity, or of related records they use", async () => {
    const { orderItem, person } = queriesOf("root");
    await Promise.all([
      cache.fetchQuery(orderItem.list.queryOptions({ where: { count: { gt: 1 } } })),
      cache.fetchQuery(orderItem.get.queryOptions("item-01", { include: ["owner"] })),
      cache.fetchQuery(orderItem.count.queryOptions({ or: [{ owner: { name: "ann" } }] })),
      cache.fetchQuery(person.list.queryOptions({ where: { name: { like: "an" } } })),
    ]);
    const changed = await mutate(person.update.mutationOptions(), { id: "ann", data: { name: "Anne" } });
    expect(changed.name).toBe("Anne");
    expect(stale()).toEqual(["orderItem.count", "orderItem.get", "person.list"]);
  });

  it("stay fresh with any operator on a field of their own", async () => {
    const { orderItem, person } = queriesOf("root");
    const { queryKey } = orderItem.list.queryOptions();
    for (const operator of Object.keys(OPERATORS))
      cache.setQueryData([...queryKey, { where: { tags: { [operator]: ["a"] } } }], []);
    await mutate(person.update.mutationOptions(), { id: "ann", data: { name: "Ann" } });
    expect(stale()).toEqual([]);
  });

  it("become stale for the entities that a mutation names, or for no entity", async () => {
    const { orderItem, person } = queriesOf("root");
    await cache.fetchQuery(orderItem.list.queryOptions());
    await cache.fetchQuery(person.list.queryOptions());
    await mutate(orderItem.create.mutationOptions({ invalidates: false }), { data: { title: "New", ownerId: "ann" } });
    expect(stale()).toEqual([]);
    await mutate(orderItem.toggle.mutationOptions({ invalidates: ["person"] }), { id: "item-01" });
    expect(stale()).toEqual(["person.list"]);
  });

  it("mutate with every call, and run the caller's own onSuccess first", async () => {
    const { orderItem } = queriesOf("root");
    const told: unknown[] = [];
    await cache.fetchQuery(orderItem.list.queryOptions());
    const made = await mutate(
      orderItem.create.mutationOptions({ onSuccess: ({ title }) => void told.push(title, stale().length) }),
      { data: { title: "New", ownerId: "ann" } },
    );
    expect(told).toEqual(["New", 0]);
    expect(stale()).toEqual(["orderItem.list"]);
    const repriced = await mutate(orderItem.reprice.mutationOptions(), { id: made.id, input: { price: 2, dry: true } });
    expect(repriced).toMatchObject({ id: made.id, price: 2, dry: true });
    expect(await mutate(orderItem.place.mutationOptions(), { input: { title: "Nut" } })).toEqual({ placed: "Nut" });
    await mutate(orderItem.delete.mutationOptions(), { id: made.id });
    await expect(cache.fetchQuery(orderItem.get.queryOptions(made.id))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("end the request of a query that is cancelled", async () => {
    const { orderItem } = queriesOf();
    const options = orderItem.list.queryOptions();
    const fetched = cache.fetchQuery(options);
    await cache.cancelQueries({ queryKey: orderItem.queryKey() });
    await expect(fetched).rejects.toMatchObject({ revert: true });
  });

  it("keep the keys of two APIs apart", async () => {
    const one = createQueries(shop.clientOf("root"), { key: "one" });
    const two = createQueries(shop.clientOf("root"), { key: "two" });
    await cache.fetchQuery(one.person.list.queryOptions());
    await cache.fetchQuery(two.person.list.queryOptions({ include: ["items"] }));
    await mutate(one.person.update.mutationOptions(), { id: "ann", data: { name: "Anne" } });
    const invalidated = cache
      .getQueryCache()
      .getAll()
      .filter(({ state }) => state.isInvalidated);
    expect(invalidated.map(({ queryKey }) => queryKey[0])).toEqual(["one"]);
  });
});
