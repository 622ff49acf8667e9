import type { JsonSchema } from "../../entity/index.ts";
import {
  AuditLog,
  EncryptionKeys,
  type KeyPosition,
  type KeyRotation,
  type OperationScope,
  type PluginContext,
  RemoteServices,
  type RouteContext,
  type RouteDescription,
} from "../../gate/index.ts";
import { BadRequestError, Reply } from "../../kernel/index.ts";

/** Records whose values one request counts. */
const COUNTED = 1_000;
/** Records whose values one request re-encrypts. */
const ROTATED = 200;

/** Headers of responses that are specific to the caller and change soon. */
export const PRIVATE = Object.freeze({ "cache-control": "private, no-store" });

/** Which routes for administrators exist: an app may have no keys or no services. */
export function operationsOf({ has }: Pick<PluginContext, "has">): {
  readonly keys: boolean;
  readonly services: boolean;
} {
  return { keys: has(EncryptionKeys), services: has(RemoteServices) };
}

/**
 * Adds `GET keys`, `POST keys/rotate` and `GET services` below the studio's path. Each request processes a limited
 * number of records, so that none takes long; the caller continues where it ended.
 */
export function addOperationRoutes(context: PluginContext, path: string, rules: readonly string[]): void {
  const { routes, use, tryUse } = context;
  const { keys, services } = operationsOf(context);
  if (keys) {
    routes.add({
      method: "GET",
      path: `${path}/keys`,
      action: "encryption-keys",
      rules,
      describe: () => KEYS,
      async handler({ search, scope }: RouteContext) {
        const { ids, count } = use(EncryptionKeys);
        const { usages, next } = await count(readAfter(search, scope), COUNTED);
        return new Reply(200, { ids, usages, ...(next === undefined ? {} : { next: toCursor(next) }) }, PRIVATE);
      },
    });
    routes.add({
      method: "POST",
      path: `${path}/keys/rotate`,
      action: "rotate-keys",
      rules,
      transactional: false,
      describe: () => ROTATE,
      async handler({ scope, body }: RouteContext) {
        const from = readProgress(await body(), scope);
        const { ids, rotate } = use(EncryptionKeys);
        const entry = {
          operation: "rotate",
          action: "rotate-keys",
          entity: "encryptionKey",
          recordId: ids[0] as string,
        };
        // Logged for every request: the caller sends the position, and could begin in the middle.
        await tryUse(AuditLog)?.note(scope, entry);
        return new Reply(200, await rotate(from, ROTATED), PRIVATE);
      },
    });
  }
  if (services)
    routes.add({
      method: "GET",
      path: `${path}/services`,
      action: "remote-services",
      rules,
      describe: () => SERVICES,
      handler() {
        return new Reply(200, use(RemoteServices).states(), PRIVATE);
      },
    });
}

/** A position as opaque text. */
function toCursor(position: KeyPosition): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** @throws BadRequestError */
function readAfter(search: string, scope: OperationScope): KeyPosition | undefined {
  const query = new URLSearchParams(search);
  const unknown = [...query.keys()].find((name) => name !== "_after");
  if (unknown !== undefined) throw new BadRequestError(`There is no parameter "${unknown.slice(0, 40)}" here`);
  const text = query.get("_after");
  if (text === null) return undefined;
  const value = parsed(Buffer.from(text, "base64url").toString("utf8"));
  if (!isPosition(value, scope)) throw new BadRequestError('"_after" is what "next" of the answer before was');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NUMBERS = ["total", "records", "reEncrypted", "overtaken", "failed"] as const;

/** @throws BadRequestError */
function readProgress(body: unknown, scope: OperationScope): KeyRotation | undefined {
  const given = body ?? {};
  if (typeof given === "object" && !Array.isArray(given) && Object.keys(given).length === 0) return undefined;
  const progress = given as Readonly<Record<string, unknown>>;
  const isCount = (name: string): boolean => Number.isSafeInteger(progress[name]) && (progress[name] as number) >= 0;
  if (!isPosition(given, scope) || typeof progress.keyId !== "string" || !NUMBERS.every(isCount))
    throw new BadRequestError("The body is empty at first, and then the answer before");
  const { entity, after, finished, keyId, total, records, reEncrypted, overtaken, failed } = given as KeyRotation;
  return { entity, after, finished, keyId, total, records, reEncrypted, overtaken, failed };
}

function isPosition(value: unknown, { app }: OperationScope): value is KeyPosition {
  if (typeof value !== "object" || value === null) return false;
  const { entity, after, finished } = value as Partial<Record<keyof KeyPosition, unknown>>;
  const isName = (one: unknown): boolean => typeof one === "string" && one.length <= app.limits.idLength;
  return (
    (entity === null || isName(entity)) &&
    (after === null || isName(after)) &&
    Array.isArray(finished) &&
    finished.length <= app.model.entities.length &&
    finished.every(isName)
  );
}

const TEXT: JsonSchema = Object.freeze({ type: "string" });
const NULLABLE: JsonSchema = Object.freeze({ type: ["string", "null"] });
const COUNT: JsonSchema = Object.freeze({ type: "integer", minimum: 0 });

function answers(description: string, schema: JsonSchema): RouteDescription["answers"] {
  return { 200: { description, content: { "application/json": schema } } };
}

const USAGE = {
  type: "object",
  required: ["entity", "field", "keyId", "values"],
  properties: { entity: TEXT, field: TEXT, keyId: NULLABLE, values: COUNT },
};
const KEYS: RouteDescription = {
  operationId: "readEncryptionKeys",
  summary: "Count the encrypted values of each key",
  parameters: [{ name: "_after", in: "query", schema: TEXT, description: "`next` of the answer before." }],
  answers: answers("Ids of the keys, the first of which encrypts, and how many values of some records have each.", {
    type: "object",
    required: ["ids", "usages"],
    properties: {
      ids: { type: "array", items: TEXT },
      usages: { type: "array", items: USAGE },
      next: { ...TEXT, description: "What `_after` takes for the next records; absent after the last of them." },
    },
  }),
  errors: [400],
};
const PROGRESS = {
  keyId: TEXT,
  entity: NULLABLE,
  after: NULLABLE,
  finished: { type: "array", items: TEXT },
  ...Object.fromEntries(NUMBERS.map((name) => [name, COUNT])),
};
const ROTATE: RouteDescription = {
  operationId: "rotateEncryptionKeys",
  summary: "Give the encrypted values of some records the first key",
  body: {
    required: true,
    content: {
      "application/json": {
        type: "object",
        description: "Empty at first, then the answer before.",
        properties: PROGRESS,
      },
    },
  },
  answers: answers("How far the rotation has come.", {
    type: "object",
    required: [...Object.keys(PROGRESS), "complete"],
    properties: { ...PROGRESS, complete: { type: "boolean" } },
  }),
  errors: [400],
};
const SERVICES: RouteDescription = {
  operationId: "listRemoteServices",
  summary: "Tell which services of other relations answer",
  answers: answers("Services by name; one that is open is left alone for a while, because it failed too often.", {
    type: "array",
    items: {
      type: "object",
      required: ["name", "state"],
      properties: { name: TEXT, state: { type: "string", enum: ["closed", "open", "half-open"] } },
    },
  }),
};
