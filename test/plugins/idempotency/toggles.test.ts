import { expect, it } from "vitest";
import { action, bool, defineRule, entity, string, toggleAction } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const isOpen = defineRule("itgToggleOpen", () => ({ open: true }));
const order = entity("order", { item: string, open: bool.default(true), done: bool.default(false) })
  .rules({ read: ["everyone"], update: [isOpen] })
  .actions({
    toggle: toggleAction("done"),
    pay: action()
      .onResource()
      .handler(() => ({ paid: true })),
  });

it.each(["pay", "toggle-done"])("a replay of an action takes the right to the action: %s", async (name) => {
  const app = createTestApp({ entities: [order], plugins: (defaults) => defaults.with(idempotency()) });
  const system = app.api.asSystem();
  const { id } = await system.order.create({ item: "x" });
  const ann = app.as({ id: "ann" });
  const send = () => ann.request("POST", `/api/orders/${id}/${name}`, {}, { "idempotency-key": "k" });
  expect(await send()).toMatchObject({ status: 200 });
  await system.order.update(id, { open: false });
  expect(await send()).toMatchObject({ status: 403 });
  await app.close();
});
