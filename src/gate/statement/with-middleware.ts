import type { EntityModel } from "../../entity/index.ts";
import { compileWhere } from "../condition/compile-where.ts";
import { and, type Condition, type Where } from "../condition/condition.ts";
import { defineDriver } from "./define-driver.ts";
import type { Driver, DriverCapabilities, DriverPort } from "./driver-port.ts";
import type { Execute, ResultOf, Statement } from "./statement.ts";

/**
 * Wraps every statement of a driver, including those of its transactions. It may change the statement or its result,
 * run other statements, or return a result itself.
 * @param next runs a statement on the inner driver
 * @param inner the inner driver; for statements of a transaction, the driver of the transaction
 */
export type Middleware = (statement: Statement, next: Execute, inner: Driver) => Promise<ResultOf<Statement>>;

/** Members that replace those of the inner driver. */
export interface MiddlewareOptions extends Partial<Omit<DriverPort, "capabilities">> {
  /** Capabilities that replace those of the inner driver. @default no changes */
  readonly capabilities?: Partial<DriverCapabilities>;
  /**
   * Whether the middleware treats joined records like others, or only observes. Otherwise the driver has no `joins`:
   * such records are read by separate statements, so that they also pass through the middleware. @default false
   */
  readonly joins?: boolean;
  /** The entities it serves. @default those of the inner driver */
  readonly model?: EntityModel;
}

/** Wraps a driver with a middleware. */
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
 * Adds a condition to a statement. Inserts are returned unchanged. For pairs the condition applies to the records at
 * the other end; statements that add or remove pairs are returned unchanged.
 * @param where a condition on the statement's entity; for pairs, on that of the other end
 */
export function narrowed(statement: Statement, where: Where, model: EntityModel): Statement {
  if (!("where" in statement) || statement.kind === "insert") return statement;
  const entity = statement.kind === "pairs" ? statement.relation.target : statement.entity;
  return { ...statement, where: and([statement.where as Condition, compileWhere(model, entity, where)]) } as Statement;
}

/** Replaces some capabilities. Getters are kept, since a driver may know a capability only once it is connected. */
export function withCapabilities(
  capabilities: DriverCapabilities,
  others: Partial<DriverCapabilities>,
): DriverCapabilities {
  const members = { ...Object.getOwnPropertyDescriptors(capabilities), ...Object.getOwnPropertyDescriptors(others) };
  return Object.freeze(Object.defineProperties({}, members) as DriverCapabilities);
}
