import type { EntityModel } from "../../entity/index.ts";
import { compileWhere } from "../condition/compile-where.ts";
import { and, type Condition, type Where } from "../condition/condition.ts";
import { defineDriver } from "./define-driver.ts";
import type { Driver, DriverCapabilities, DriverPort } from "./driver-port.ts";
import type { Execute, ResultOf, Statement } from "./statement.ts";

/**
 * Stands around every statement of a driver, those of its transactions included. It may change the statement or its
 * result, run other statements, or return a result itself.
 * @param next runs a statement on the driver inside
 * @param inner the driver inside; for statements of a transaction, that of the transaction
 */
export type Middleware = (statement: Statement, next: Execute, inner: Driver) => Promise<ResultOf<Statement>>;

/** What a driver with a middleware does itself, instead of the driver inside. */
export interface MiddlewareOptions extends Partial<Omit<DriverPort, "capabilities">> {
  /** Capabilities that replace those of the driver inside. @default no changes */
  readonly capabilities?: Partial<DriverCapabilities>;
  /**
   * Whether the middleware treats records that are read along as it treats others, or only observes. If not, the driver has no
   * `joins`: such records are read by statements of their own, so that they do not pass the middleware by. @default false
   */
  readonly joins?: boolean;
  /** The entities it serves. @default those of the driver inside */
  readonly model?: EntityModel;
}

/** A driver with a middleware around it. */
export function withMiddleware(
  inner: Driver,
  middleware: Middleware,
  { joins = false, capabilities: more, model, ...own }: MiddlewareOptions = {},
): Driver {
  const around = (driver: Driver): Execute =>
    ((statement) => middleware(joins ? statement : withoutJoins(statement), driver.execute, driver)) as Execute;
  let capabilities: DriverCapabilities | undefined;
  const port: DriverPort = {
    get name() {
      return inner.name;
    },
    get capabilities() {
      if (joins && more === undefined) return inner.capabilities;
      capabilities ??= withCapabilities(inner.capabilities, joins ? { ...more } : { ...more, joins: false });
      return capabilities;
    },
    get schema() {
      return inner.schema;
    },
    connect: (context) => inner.connect(context),
    disconnect: () => inner.disconnect(),
    ping: () => inner.ping(),
    execute: around(inner),
    transaction: (work, options) => inner.transaction((driver) => work(around(driver)), options),
    ...own,
  };
  return defineDriver(port, () => model ?? inner.model);
}

function withoutJoins(statement: Statement): Statement {
  return statement.kind === "find" && statement.joins !== undefined ? { ...statement, joins: undefined } : statement;
}

/**
 * A statement that applies only to records which also meet a condition. An insert stays as it is. For pairs the condition
 * is about the records at the other end; those that are added or removed stay as they are.
 * @param where on the statement's entity; for pairs, on the other end's
 */
export function narrowed(statement: Statement, where: Where, model: EntityModel): Statement {
  if (!("where" in statement) || statement.kind === "insert") return statement;
  const entity = statement.kind === "pairs" ? statement.relation.target : statement.entity;
  return { ...statement, where: and([statement.where as Condition, compileWhere(model, entity, where)]) } as Statement;
}

/** Capabilities with others in place of some. A driver may know one only once it is connected: getters stay getters. */
export function withCapabilities(
  capabilities: DriverCapabilities,
  others: Partial<DriverCapabilities>,
): DriverCapabilities {
  const members = { ...Object.getOwnPropertyDescriptors(capabilities), ...Object.getOwnPropertyDescriptors(others) };
  return Object.freeze(Object.defineProperties({}, members) as DriverCapabilities);
}
