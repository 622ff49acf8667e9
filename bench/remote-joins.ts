// What joining records of other services costs per record, apart from the services themselves: by hand, with
// dataloader, with Medusa's joiner where it is installed, with the joiner alone, and through the whole API.
import DataLoader from "dataloader";
import {
  belongsTo,
  bool,
  createRemoteJoiner,
  entity,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  type RemoteService,
  type Row,
  ServiceContainer,
  string,
} from "../src/index.ts";
import { type Fetch, medusaStitch } from "./medusa-joiner.ts";
import { median } from "./statistics.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const BATCH = 100;
/** Records stitched per contender and round. */
const WORK = Number(process.env.BENCH_RECORDS ?? 100_000);

const target = (name: string) =>
  entity(name, { name: string, amount: int, active: bool })
    .rules({ read: ["everyone"] })
    .build();
const subscription = target("subscription");
const invoice = target("invoice");
const shipment = target("shipment");
const order = entity("order", {
  title: string,
  subscription: belongsTo(() => subscription).remote("shop"),
  invoice: belongsTo(() => invoice).remote("shop"),
  shipment: belongsTo(() => shipment).remote("shop"),
})
  .rules({ read: ["everyone"] })
  .build();
const RELATIONS = ["subscription", "invoice", "shipment"] as const;

let calls = 0;
const stored = new Map<string, Row>();
const fetchByIds: Fetch = async (_entityName, ids) => {
  calls++;
  return ids.map((id) => ({ ...stored.get(id) }));
};
const service: RemoteService = { fetchByIds };

/** Two records in a row point to the same related ones, so that there are half as many distinct ids as records. */
function ordersOf(count: number): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `record-${i >> 1}`;
    stored.set(id, { id, name: `name ${i}`, amount: i, active: true });
    return { id: `order-${i}`, title: `order ${i}`, subscriptionId: id, invoiceId: id, shipmentId: id };
  });
}

interface Contender {
  readonly name: string;
  /** What it takes to get the records that it is timed with, which is subtracted. */
  readonly without?: () => Promise<unknown>;
  run(): Promise<readonly unknown[]>;
}

function byHand(records: readonly Row[], relations: readonly string[]): () => Promise<readonly Row[]> {
  return async () => {
    const found = await Promise.all(
      relations.map(async (name) => {
        const ids = [...new Set(records.map((record) => record[`${name}Id`] as string))];
        const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) =>
          fetchByIds(name, ids.slice(i * BATCH, (i + 1) * BATCH)),
        );
        return new Map((await Promise.all(batches)).flat().map((record) => [record.id, record]));
      }),
    );
    return records.map((record) => {
      const copy: Row = { ...record };
      for (const [i, name] of relations.entries()) copy[name] = found[i]?.get(record[`${name}Id`]) ?? null;
      return copy;
    });
  };
}

function withDataLoader(records: readonly Row[], relations: readonly string[]): () => Promise<readonly Row[]> {
  return async () => {
    const loaders = relations.map((name) => {
      const load = async (ids: readonly string[]): Promise<(Row | null)[]> => {
        const found = new Map((await fetchByIds(name, ids)).map((record) => [record.id, record]));
        return ids.map((id) => found.get(id) ?? null);
      };
      return [name, new DataLoader(load, { maxBatchSize: BATCH })] as const;
    });
    return Promise.all(
      records.map(async (record) => {
        const copy: Row = { ...record };
        await Promise.all(
          loaders.map(async ([name, loader]) => {
            copy[name] = await loader.load(record[`${name}Id`] as string);
          }),
        );
        return copy;
      }),
    );
  };
}

async function contendersFor(count: number, relations: readonly (typeof RELATIONS)[number][]): Promise<Contender[]> {
  const records = ordersOf(count);
  const container = new ServiceContainer().registerInstance("shop", service);
  const joiner = createRemoteJoiner({ batchSize: BATCH });
  const include = Object.fromEntries(relations.map((name) => [name, true]));
  const entities = [order, subscription, invoice, shipment];
  const driver = memoryDriver();
  const medusa = medusaStitch(relations, fetchByIds);
  const api = keelson({
    entities: [order],
    driver: memoryDriver({ order: records }),
    services: { shop: () => service },
    limits: { maxPageSize: count },
    logger: noopLogger,
  });
  await api.ready;
  const orders = api.as({ id: "ann" }).order;
  const listed = (with_: readonly (typeof RELATIONS)[number][]) => async () =>
    (await orders.list({ include: with_, limit: count })).data;
  return [
    { name: "a loop by hand", run: byHand(records, relations) },
    { name: "a loop with dataloader", run: withDataLoader(records, relations) },
    ...(medusa === undefined ? [] : [{ name: "Medusa's joiner", run: () => medusa(records) }]),
    { name: "joiner.stitch", run: () => joiner.stitch(records, order, include, { entities, container, driver }) },
    { name: "include, with rules and masks", run: listed(relations), without: listed([]) },
  ];
}

/** Microseconds of CPU per record. */
async function cost(work: () => Promise<unknown>, count: number): Promise<number> {
  const times = Math.max(1, Math.round(WORK / count));
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times / count;
}

async function compare(count: number, relations: readonly (typeof RELATIONS)[number][]): Promise<void> {
  const contenders = await contendersFor(count, relations);
  const most = Math.ceil(count / 2 / BATCH) * relations.length;
  const costs = contenders.map((): number[] => []);
  const asked = contenders.map(() => 0);
  for (let round = 0; round <= ROUNDS; round++)
    for (const [i, { name, run, without }] of contenders.entries()) {
      calls = 0;
      const last = (await run()).at(-1) as Row;
      asked[i] = calls;
      for (const relation of relations)
        if ((last[relation] as Row | null)?.name !== `name ${count - 1}`) throw new TypeError(`${name}: wrong answer`);
      const own = (await cost(run, count)) - (without === undefined ? 0 : await cost(without, count));
      if (round > 0) costs[i]?.push(own); // the first one warms up
    }
  console.log(`\n${count} records, ${relations.length} relation(s); ⌈distinct ids / batchSize⌉ = ${most} calls`);
  const reference = costs[1] as number[];
  for (const [i, { name }] of contenders.entries()) {
    const own = costs[i] as number[];
    const ratios = own.map((value, round) => value / (reference[round] as number));
    const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `${name.padEnd(30)} ${median(own).toFixed(2).padStart(7)} µs per record  ${median(ratios).toFixed(2)} (${range}) × dataloader  ${asked[i]} calls`,
    );
    if (name !== "Medusa's joiner" && asked[i] !== most) throw new TypeError(`${name}: ${asked[i]} calls`);
  }
}

for (const count of [100, 1_000])
  for (const relations of [RELATIONS.slice(0, 1), RELATIONS]) await compare(count, relations);
