import { belongsTo, type Driver, entity, hasMany, int, keelson, noopLogger, string } from "../../../src/index.ts";

export const LINES = 5;

const order = entity("order", { number: string.unique(), way: string, lines: hasMany(() => line) }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: ["everyone"],
});
const line = entity("line", { place: int, order: belongsTo(() => order) }).rules({
  read: ["everyone"],
  create: ["everyone"],
});

/** Orders of five lines each, which must be written completely or not at all. */
export function wholeOrders(driver: Driver) {
  return keelson({ entities: [order, line], driver, logger: noopLogger });
}

/** Sends one order with its lines: nested, in a batch, or as a change of a stored order. */
export async function sendOrder(api: ReturnType<typeof wholeOrders>, number: string): Promise<void> {
  const places = Array.from({ length: LINES }, (_, place) => ({ place }));
  const post = async (path: string, body: unknown, method = "POST"): Promise<void> => {
    const init = { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await api.fetch(new Request(`http://localhost/api${path}`, init));
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  await post("/orders", { number: `${number}-nested`, way: "nested", lines: { create: places } });
  await post("/batch", [
    { method: "POST", path: "/orders", body: { number: `${number}-batch`, way: "batch" } },
    ...places.map((one) => ({ method: "POST", path: "/lines", body: { ...one, orderId: "$0.id" } })),
  ]);
}
