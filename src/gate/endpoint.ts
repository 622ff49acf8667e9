import type { JsonSchema } from "../entity/index.ts";
import { type BodyReading, ValidationFailedError, type ValidationIssue } from "../kernel/index.ts";
import type { RouteContext, RouteInput } from "./operation/route.ts";
import type { RouteDescription } from "./operation/route-description.ts";

/** A schema of [Standard Schema](https://standardschema.dev), version 1, such as those of zod, Valibot and ArkType. */
export interface InputSchema<T> {
  readonly "~standard": {
    readonly version: 1;
    readonly validate: (value: unknown) => CheckedInput<T> | Promise<CheckedInput<T>>;
    /** Describes the schema in documentation, if the library supports it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema } | undefined;
  };
}

type CheckedInput<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly InputIssue[] };

interface InputIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The `body` option of an endpoint: a schema for JSON, or how to read bytes or a form. */
type BodyOption = InputSchema<unknown> | BodyReading | undefined;
/** The result of `body()`. */
type BodyOf<B> =
  B extends InputSchema<infer T>
    ? T
    : B extends { readonly as: "raw" }
      ? AsyncIterable<Uint8Array>
      : B extends { readonly as: "multipart" }
        ? FormData
        : unknown;

/** The context of an endpoint's handler, with the types of its parameters and body. */
export type EndpointContext<P, B> = Omit<RouteContext, "params" | "body"> & {
  readonly params: P;
  /** The body, read on first call. @throws 400, 413, 415 */
  body(): Promise<BodyOf<B>>;
};

/**
 * A plugin endpoint. Without `rules` it is denied to all callers.
 * @typeParam S the state of its plugin
 * @typeParam P the parameters of its path
 * @typeParam B its body
 */
export interface EndpointConfig<S = unknown, P = Readonly<Record<string, string>>, B = BodyOption>
  extends Pick<RouteInput, "meta" | "describe" | "early" | "errorFormat" | "transactional"> {
  /** @default "GET" */
  readonly method?: string | undefined;
  readonly rules?: readonly (string | { readonly name: string })[] | undefined;
  /** Validates the path parameters; other values are refused with 400 before the handler runs. @default any text */
  readonly params?: InputSchema<P> | undefined;
  /**
   * Validates the JSON body (other values are refused with 400), or declares how a body that is not JSON is read, and
   * its limits.
   * @default any JSON
   */
  readonly body?: B;
  /** @param state the value that the plugin's `setup` returned */
  handler(context: EndpointContext<P, B>, state: S): unknown;
}

/** An endpoint with its path from the root of the server. */
export interface Endpoint<S = unknown> extends Omit<EndpointConfig<S>, "params" | "body" | "handler"> {
  readonly path: string;
  readonly body?: BodyReading | undefined;
  handler(context: RouteContext, state: S): unknown;
}

/**
 * An endpoint of a plugin. Without `rules` it is denied to all callers.
 * @param path the path from the root of the server, as in `/reports/:year`; `/files/:path+` captures the rest of the
 *   path, and `/orders/:id:archive` ends in a verb
 * @param config method, rules, schemas and handler
 * @example endpoint("/reports/:year", { rules: ["admin"], params: z.object({ year: z.coerce.number() }), handler: ({
 *   params }) => report(params.year) })
 */
export function endpoint<S = unknown, P = Readonly<Record<string, string>>, const B extends BodyOption = BodyOption>(
  path: string,
  { params, body, handler, ...config }: EndpointConfig<S, P, B>,
): Endpoint<S> {
  const schema = isSchema(body) ? body : undefined;
  const reading = isSchema(body) ? undefined : (body as BodyReading | undefined);
  const described = body === undefined ? {} : { describe: () => describeBody(schema, reading) };
  const own = { method: "GET", ...described, ...(reading === undefined ? {} : { body: reading }), ...config, path };
  // The app reports a missing handler together with all other problems.
  if (typeof handler !== "function") return Object.freeze({ ...own, handler });
  return Object.freeze({
    ...own,
    handler: (call: RouteContext, state: S): unknown => {
      if (params === undefined && schema === undefined) return handler(call as EndpointContext<P, B>, state);
      return checkedCall(call, params, schema).then((checked) => handler(checked as EndpointContext<P, B>, state));
    },
  });
}

function isSchema(body: unknown): body is InputSchema<unknown> {
  // ArkType's types are functions.
  return body !== null && body !== undefined && "~standard" in (body as object);
}

async function checkedCall(
  call: RouteContext,
  params: InputSchema<unknown> | undefined,
  body: InputSchema<unknown> | undefined,
): Promise<Omit<RouteContext, "params"> & { readonly params: unknown }> {
  const found = params === undefined ? call.params : await check(params, call.params);
  const read = async (): Promise<unknown> => {
    const value = await call.body();
    return body === undefined ? value : check(body, value);
  };
  return { ...call, params: found, body: read };
}

/** Limits the report on a list with many invalid items. */
const MOST_ISSUES = 100;

/** @throws ValidationFailedError with the first issues of the schema */
async function check<T>(schema: InputSchema<T>, value: unknown): Promise<T> {
  const checked = await schema["~standard"].validate(value);
  if (checked.issues === undefined) return checked.value;
  throw new ValidationFailedError(checked.issues.slice(0, MOST_ISSUES).map(toIssue));
}

function toIssue({ message, path = [] }: InputIssue): ValidationIssue {
  const keys = path.map((part) => (typeof part === "object" ? part.key : part));
  return { path: keys.map((key) => (typeof key === "number" ? key : String(key))), code: "custom", message };
}

/** Describes the body in documentation; any JSON when the library cannot describe the schema. */
function describeBody(schema: InputSchema<unknown> | undefined, reading: BodyReading | undefined): RouteDescription {
  if (reading?.as === "raw") return { body: { required: false, content: { "*/*": {} } } };
  if (reading !== undefined)
    return { body: { required: true, content: { "multipart/form-data": { type: "object" } } } };
  const jsonSchema = schema?.["~standard"].jsonSchema;
  return {
    body: { required: true, content: { "application/json": jsonSchema === undefined ? {} : described(jsonSchema) } },
  };
}

function described({ input }: NonNullable<InputSchema<unknown>["~standard"]["jsonSchema"]>): JsonSchema {
  try {
    const { $schema: _, ...schema } = input({ target: "draft-2020-12" });
    return schema;
  } catch {
    return {}; // part of the schema cannot be expressed as JSON Schema
  }
}
