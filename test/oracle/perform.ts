/** Performs a step on the app, through the surface that it names, and returns the response. */
import { type OracleApp, userOf, whereOf } from "./build-app.ts";
import { statusOfRun, stepsFor } from "./entity-actions.ts";
import { library } from "./library.ts";
import type { Call, EntityModel, Model, Principal, Reader, Step } from "./model.ts";
import { claimsOf, entityOf } from "./model.ts";
import { listedIn, type OpenApi } from "./read-document.ts";
import type { ReportInput } from "./report-action.ts";
import { parseCsv, requestOf } from "./requests.ts";
import type { HandlerCall } from "./run-call.ts";
import { clientCall, failed, fromClient, overClient, overTransaction } from "./through-clients.ts";

/** The response, in one form for all surfaces. */
export interface Observed {
  readonly status: number;
  readonly body: unknown;
  readonly total?: number | undefined;
  /** For consecutive pages: the number of records on each. */
  readonly pages?: readonly number[];
  /** For a repeated request. */
  readonly isReplay?: boolean;
}

const readAll = async (body: unknown): Promise<string> => {
  if (body === null || body === undefined) return "";
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const parts: Buffer[] = [];
  for await (const part of body as AsyncIterable<Uint8Array | string>) parts.push(Buffer.from(part as string));
  return Buffer.concat(parts).toString();
};

async function send(
  app: OracleApp,
  by: Principal,
  method: string,
  url: string,
  body?: unknown,
  key?: string,
): Promise<Observed & { text: string; headers: Readonly<Record<string, unknown>> }> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await app.api.handle({
    method,
    url,
    headers: {
      host: "localhost",
      ...(by !== null && { "x-caller": JSON.stringify(by) }),
      ...(text !== undefined && { "content-type": "application/json", "content-length": String(text.length) }),
      ...(key !== undefined && { "idempotency-key": key }),
    },
    ...(text !== undefined && { body: { kind: "text" as const, text } }),
  });
  const said = await readAll(answer.body);
  const isJson = String(answer.headers["content-type"] ?? "").startsWith("application/json");
  const total = answer.headers["x-total-count"];
  return {
    status: answer.status,
    body: isJson ? (JSON.parse(said) as unknown) : undefined,
    total: total === undefined ? undefined : Number(total),
    isReplay: answer.headers["idempotency-replayed"] === "true",
    text: said,
    headers: answer.headers,
  };
}

/** The input of a `report` handler. */
function reportInput(
  model: Model,
  own: EntityModel,
  by: Principal,
  { read, handling }: Extract<Call, { do: "report" }>,
): ReportInput {
  const entity = read.from === "record" ? own : entityOf(model, read.entity);
  const shared = { entity: entity.name, handling, claims: claimsOf(entity, by) };
  if (read.from === "record") return { ...read, ...shared };
  if (read.from === "client") return { ...read, ...shared, call: clientCall(entity, read.call) as HandlerCall };
  return { ...read, ...shared, where: whereOf(read.where, by) };
}

interface ReportClient {
  report(...given: readonly unknown[]): Promise<{ readonly result: unknown }>;
}

/** Calls the action whose handler reads records itself, over HTTP or as a method of the client. */
async function overReport(
  app: OracleApp,
  entity: EntityModel,
  { by, call, surface }: Step & { call: Extract<Call, { do: "report" }> },
): Promise<Observed> {
  const read = JSON.stringify(reportInput(app.model, entity, by, call));
  if (surface === "client")
    try {
      const clients = app.api.as(userOf(by) as never) as unknown as Record<string, ReportClient>;
      const given = call.id === undefined ? [{ read }] : [call.id, { read }];
      const { result } = await (clients[entity.name] as ReportClient).report(...given);
      return { status: 200, body: JSON.parse(JSON.stringify(result)) as unknown };
    } catch (error) {
      return failed(error);
    }
  const at = call.id === undefined ? "" : `/${call.id}`;
  const url = `/api/${entity.name}s${at}/report?read=${encodeURIComponent(read)}`;
  const { status, body } = await send(app, by, entity.report?.method as string, url);
  return { status, body: status === 200 ? (body as { result: unknown }).result : body };
}

/** The OpenAPI document of a caller, an anonymous caller, or the system: over HTTP, or generated in the process. */
async function documentOf(app: OracleApp, by: Principal, of: Reader, surface: Step["surface"]): Promise<Observed> {
  let status = 200;
  let document: OpenApi | undefined;
  if (surface === "http") {
    const answer = await send(app, by, "GET", `/openapi.json${of === "public" ? "?as=public" : ""}`);
    status = answer.status;
    document = answer.body as OpenApi | undefined;
  } else {
    const reader = of === "own" ? (userOf(by) ?? "public") : of;
    document = (await library.openapiDocument(app.api, { as: reader as never })) as unknown as OpenApi;
  }
  return { status, body: document === undefined || status !== 200 ? document : listedIn(document, app.model, of) };
}

async function overHttp(app: OracleApp, path: string, by: Principal, call: Call, key?: string): Promise<Observed> {
  const [method, url, body] = requestOf(path, call);
  if (call.do === "walk") return walk(app, by, url);
  const answer = await send(app, by, method, url, body, key);
  const { status, total, isReplay, text } = answer;
  if (call.do === "export" && status === 200 && call.format !== "json") {
    const lines = text.split("\n").filter((line) => line !== "");
    return { status, body: call.format === "csv" ? parseCsv(text) : lines.map((line) => JSON.parse(line) as unknown) };
  }
  if (call.do === "import" && status === 200) {
    const told = answer.body as { failed: { row: number }[] };
    return { status, body: { ...told, failed: told.failed.map(({ row }) => row) } };
  }
  if (call.do === "batch" && status === 200) {
    const answers = answer.body as { status: number; body: unknown }[];
    return { status, body: answers.map((one) => ({ status: one.status, body: one.body })) };
  }
  return { status, body: answer.body, total, ...(key !== undefined && { isReplay }) };
}

/** Page after page, by cursors. */
async function walk(app: OracleApp, by: Principal, url: string): Promise<Observed> {
  const all: unknown[] = [];
  const sizes: number[] = [];
  let after: unknown;
  for (let pages = 0; pages < 100; pages += 1) {
    const cursor = after === undefined ? "" : `&_after=${encodeURIComponent(String(after))}`;
    const { status, body, headers } = await send(app, by, "GET", `${url}${cursor}`);
    if (status !== 200) return { status, body };
    all.push(...(body as unknown[]));
    sizes.push((body as unknown[]).length);
    after = headers["x-next-cursor"];
    if (after === undefined) return { status, body: all, pages: sizes };
  }
  return { status: 599, body: "the cursors do not end" };
}

async function overHandler(
  app: OracleApp,
  path: string,
  entity: EntityModel,
  by: Principal,
  call: Call,
): Promise<Observed> {
  const { status, body } = await send(app, by, "POST", `${path}/handled`, clientCall(entity, call));
  return status === 200 ? fromClient(call, (body as { result: unknown }).result) : { status, body };
}

/** Ways in which a workflow step runs; each obeys the caller's rules. */
const RUNS = ["action", "handler", "run"] as const;

async function overSteps(app: OracleApp, path: string, step: Step): Promise<Observed> {
  const { call, by, uid, match } = step;
  const where = { id: "id" in call ? call.id : "", ...match };
  const handlerCall = { ...call, where } as HandlerCall;
  // The way is chosen by the step's name.
  const way = RUNS[Number.parseInt(uid.replace(/\D/g, ""), 10) % RUNS.length];
  if (way === "handler") {
    const { status, body } = await send(app, by, "POST", `${path}/stepped`, handlerCall);
    return status === 200 ? { status: (body as { status: number }).status, body: undefined } : { status, body };
  }
  if (way === "run") {
    const entity = app.entities.get(step.on) as Parameters<typeof stepsFor>[0];
    const result = await library.runWorkflow(stepsFor(entity, handlerCall), {
      resolve: app.api.resolve.bind(app.api),
      user: userOf(by) as never,
    });
    return { status: statusOfRun(result), body: undefined };
  }
  const name = { create: "stepCreate", update: "stepUpdate", delete: "stepDelete" }[call.do as "create"];
  const body = { data: handlerCall.data ?? {}, where };
  return { status: (await send(app, by, "POST", `${path}/${name}`, body)).status, body: undefined };
}

/** @throws every error of the library that is not a response */
export async function perform(app: OracleApp, entity: EntityModel, step: Step, by = step.by): Promise<Observed> {
  const path = `/api/${entity.name}s`;
  const { call } = step;
  if (call.do === "report") return overReport(app, entity, { ...step, by, call });
  if (call.do === "document") return documentOf(app, by, call.of, step.surface);
  switch (step.surface) {
    case "client":
      if (call.do === "batch") return overTransaction(app, by, call);
      return overClient(app, entity, by, call);
    case "handler":
      return overHandler(app, path, entity, by, call);
    case "steps":
      return overSteps(app, path, step);
    default:
      return overHttp(app, path, by, call, step.again === undefined ? undefined : `key-${app.scenarios}-${step.uid}`);
  }
}

/** Fills the tables through a handler's driver, which checks no rules, and hashes and encrypts. */
export async function seed(
  app: OracleApp,
  by: Principal,
  entity: EntityModel,
  rows: readonly Record<string, unknown>[],
  later: readonly [string, Record<string, unknown>][],
): Promise<void> {
  if (rows.length === 0 && later.length === 0) return;
  const { status, text } = await send(app, by, "POST", `/api/${entity.name}s/seed`, { rows, later });
  if (status !== 200) throw new Error(`cannot store the rows of a scenario: ${text}`);
}
