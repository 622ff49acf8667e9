// batch: several changes in one request and one transaction.
import { isKeelsonError } from "../../entity/index.ts";
import {
  createPlugin,
  holdBriefly,
  inTurn,
  type OperationScope,
  type Plugin,
  type Route,
  type RouteContext,
  type RouteDescription,
} from "../../gate/index.ts";
import { BadRequestError, type KernelRequest, type KernelResponse, unknownKeys } from "../../kernel/index.ts";
import { type BatchItem, idsIn, References, readItems, resolveItem } from "./batch-items.ts";
import { KeyedTurns } from "./keyed-turns.ts";

// Route: POST /batch. No hooks, no services.

/** Options of `batch`. */
export interface BatchOptions {
  /** The most items of one batch. @default 100 */
  readonly items?: number | undefined;
}

const ITEMS = 100;
/** Milliseconds that a batch waits for other batches that change the same records. */
const TURN_MS = 10_000;

/**
 * `POST /batch`: several changes in one transaction. Each item is a request to a route of an entity, with its rules,
 * validation and preconditions. When one fails, nothing is stored.
 */
export function batch(options: BatchOptions = {}): Plugin {
  const most = options.items ?? ITEMS;
  return createPlugin({
    id: "batch",
    version: "1.0.0",
    requires: ["rules"],
    setup({ problem, routes }) {
      for (const sentence of unknownKeys(options, ["items"])) problem(`batch: ${sentence}`);
      if (!Number.isInteger(most) || most < 1) problem("batch: items must be a whole number from 1");
      const turns = new KeyedTurns(TURN_MS);
      routes.add({
        method: "POST",
        path: "/batch",
        inApi: true,
        action: "batch",
        rules: ["everyone"],
        describe: () => DESCRIPTION,
        handler: async (context) => {
          const items = readItems(await context.body(), most);
          const paths = items.map(({ path }) => path.split("?", 1)[0] as string);
          const changed = [...paths.filter((path) => path.lastIndexOf("/") > 0), ...idsIn(items)];
          const options = { late: inTurn(context.scope), holdsInserts: true };
          const work = (scope: OperationScope): Promise<Answer[]> => runAll(context, scope, items);
          return await turns.run(changed, () => context.scope.transaction(work, options));
        },
      });
    },
  });
}

/** The response to an item. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

async function runAll(context: RouteContext, scope: OperationScope, items: readonly BatchItem[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const { pageBytes, bodyBytes } = scope.app.limits;
  const references = new References(bodyBytes);
  let left = pageBytes;
  for (const [index, item] of items.entries()) {
    try {
      await holdBriefly(scope);
      const resolved = resolveItem(
        item,
        answers.map(({ body }) => body),
        references,
      );
      scope.state.precondition = undefined; // each item has its own precondition
      const response = await context.dispatch(requestOf(context, resolved), scope, (route: Route) => {
        assertChange(route);
        noteUse(scope, route);
      });
      const answer = answerOf(response);
      left -= answer.bytes;
      if (left < 0) throw new BadRequestError(`The answers would have more than ${pageBytes} bytes; send fewer items`);
      answers.push(answer.shown);
    } catch (error) {
      if (isKeelsonError(error) && error.status < 500) error.message = `Item ${index}: ${error.message}`;
      throw error;
    }
  }
  return answers;
}

/**
 * @throws BadRequestError for routes that do not change records, and for routes that may have effects outside of the
 * database, which could not be rolled back
 */
function assertChange({ method, entity, body, transactional, action }: Route): void {
  if (entity === undefined || method === "GET" || body !== undefined || transactional !== true)
    throw new BadRequestError(`"${action}" cannot be part of a batch`);
}

/** Notes the rights of an item, which a repetition of the batch needs, too. */
function noteUse({ state }: OperationScope, { entity, access, action, obeys: rules }: Route): void {
  if (entity === undefined || access === undefined || access === "read") return;
  const uses = action === "upsert" ? (["create", "update"] as const) : [access];
  for (const kind of uses) state.shown?.noteUses({ entity, kind, access: kind, rules, forSome: true });
}

/** Headers that an item may have. The caller is that of the batch. */
const OWN = ["if-match", "if-none-match"];
/** Headers of the batch that do not apply to its items. */
const OUTER = [...OWN, "idempotency-key", "content-length", "content-encoding", "transfer-encoding", "prefer"];

function requestOf({ request, root }: RouteContext, { method, path, body, headers = {} }: BatchItem): KernelRequest {
  const kept = Object.entries(request.headers).filter(([name]) => !OUTER.includes(name));
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const unknown = own.find(([name]) => !OWN.includes(name));
  if (unknown !== undefined)
    throw new BadRequestError(`An item takes the headers ${OWN.join(", ")}, and not "${unknown[0]}"`);
  return {
    ...request,
    method,
    url: request.base === undefined ? root + path : path,
    headers: { ...Object.fromEntries(kept), "content-type": "application/json", ...Object.fromEntries(own) },
    body: body === undefined ? undefined : { kind: "parsed", value: body },
  };
}

const SHOWN = ["etag", "location", "x-ignored-fields"];

function answerOf({ status, headers, body }: KernelResponse): { readonly bytes: number; readonly shown: Answer } {
  const isJson = /^application\/json\b/.test(String(headers["content-type"] ?? ""));
  if (body !== null && !(isJson && (typeof body === "string" || body instanceof Uint8Array)))
    throw new BadRequestError("An answer that is not JSON cannot be part of a batch");
  const shown = Object.entries(headers).filter(([name]) => SHOWN.includes(name));
  return {
    bytes: body === null ? 0 : Buffer.byteLength(body as string | Uint8Array),
    shown: {
      status,
      headers: Object.fromEntries(shown.map(([name, value]) => [name, String(value)])),
      body:
        body === null
          ? null
          : JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array)),
    },
  };
}

const ITEM = {
  type: "object",
  required: ["method", "path"],
  properties: {
    method: { enum: ["POST", "PUT", "PATCH", "DELETE"] },
    path: {
      type: "string",
      description: "Below the API, such as `/orders/o1`; `$0.id` is the id in the answer of item 0.",
    },
    body: { type: "object" },
    headers: { type: "object", additionalProperties: { type: "string" } },
  },
};
const ANSWER = {
  type: "object",
  required: ["status", "headers", "body"],
  properties: { status: { type: "integer" }, headers: { type: "object" }, body: {} },
};

const DESCRIPTION: RouteDescription = {
  operationId: "batch",
  summary: "Make several changes, all or nothing",
  body: { required: true, content: { "application/json": { type: "array", items: ITEM } } },
  answers: {
    200: {
      description: "What each item was answered with.",
      content: { "application/json": { type: "array", items: ANSWER } },
    },
  },
  errors: ["4XX"],
};
