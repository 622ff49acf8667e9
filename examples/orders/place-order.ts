import {
  conflictError,
  createEntityStep,
  notFoundError,
  type StepContext,
  updateEntityStep,
  withOptions,
  workflow,
} from "keelson";
import type { Bank, Payment } from "./bank.ts";

/** What `POST /orders/place` takes. */
export interface PlaceOrder {
  readonly productId: string;
  readonly count: number;
  readonly card: string;
}

type Context = StepContext<PlaceOrder>;

/** The product as it is in the step's transaction. */
async function productOf({ driver, input }: Context) {
  const product = await driver.findOne("product", { id: input.productId });
  if (product === null) throw notFoundError("There is no such product");
  return product as unknown as { readonly price: number; readonly stock: number };
}

/** Takes an order in four steps; whatever fails, what was done before is taken back. */
export const placeOrder = workflow<PlaceOrder>("place-order")
  // Entity steps know how they are taken back: the stock gets its old value, the order is deleted. This one has the
  // system's rights, since a customer may not change a stock in any other way.
  .addStep(
    withOptions(
      updateEntityStep(
        "reserve",
        "product",
        ({ input }: Context) => ({ id: input.productId }),
        async (context: Context) => {
          const { price, stock } = await productOf(context);
          if (stock < context.input.count) throw conflictError("Not enough of it is left");
          context.set("total", price * context.input.count);
          return { stock: stock - context.input.count };
        },
      ),
      { asSystem: true },
    ),
  )
  .addStep(
    createEntityStep("order", "order", ({ input, get }: Context) => ({
      productId: input.productId,
      count: input.count,
      total: get("total"),
    })),
  )
  // Another system. The key is the same each time this step of this run is tried.
  .step(
    "charge",
    ({ input, get, resolve, idempotencyKey }) =>
      resolve<Bank>("bank").charge(input.card, get("total") as number, idempotencyKey),
    ({ resolve, executionKey }) => resolve<Bank>("bank").refund(executionKey),
    { retry: { attempts: 3, delay: 200 }, timeout: 5_000, idempotent: true },
  )
  .addStep(
    updateEntityStep(
      "ship",
      "order",
      ({ results }: Context) => ({ id: (results.order as { id: string }).id }),
      ({ results }: Context) => ({ status: "paid", payment: (results.charge as Payment).id }),
    ),
  )
  .build();
