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

/** The input of `POST /orders/place`. */
export interface PlaceOrder {
  readonly productId: string;
  readonly count: number;
  readonly card: string;
}

type Context = StepContext<PlaceOrder>;

/** The product as the step's transaction sees it. */
async function productOf({ driver, input }: Context) {
  const product = await driver.findOne("product", { id: input.productId });
  if (product === null) throw notFoundError("There is no such product");
  return product as unknown as { readonly price: number; readonly stock: number };
}

/** Places an order in four steps. When a step fails, the steps before it are undone. */
export const placeOrder = workflow<PlaceOrder>("place-order")
  // Entity steps have their own compensation: the stock gets its old value, the order is deleted. This one has the
  // system's rights, because a customer may not change the stock in any other way.
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
  // Another system. The key is the same for all attempts of this step in this run.
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
