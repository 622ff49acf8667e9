import { type AnyEntity, isObject } from "../../../entity/index.ts";
import {
  type Decision,
  ignoredHeader,
  type Operation,
  type OperationScope,
  presentSettled,
  type Reasons,
  type Row,
  reasonsFor,
  stillAllowed,
} from "../../../gate/index.ts";
import {
  BadRequestError,
  RecordChangedError,
  Reply,
  routeSegment,
  ValidationFailedError,
} from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { type ActionContext, type ActionRecord, definitionOf } from "../action/action-definition.ts";
import { mayReadSome } from "../action/describe-action.ts";

type Overrides = Readonly<Record<string, unknown>>;
/** Reads what the caller may copy of the original. */
type ReadOriginal = (scope: OperationScope) => Promise<Row>;
type CloneShape = PlainShape<ActionRecord, true, Overrides>;

/**
 * `POST /:id/clone` creates a copy of a record, by the rules of read and of create. It copies the fields that the
 * caller may read and write; the caller owns the copy (spec 4.2). Values in the body replace copied values, by the
 * rules of create. Passwords, omitted fields and the time of deletion are never copied. An optional reference to a
 * record that the caller may not read is left out. A copy made by the system belongs to the owner of the original.
 * @param fieldsToExclude fields that are not copied, besides `id`, `createdAt` and `updatedAt` @default none
 */
export function cloneAction(fieldsToExclude: readonly string[] = []): ActionBuilder<CloneShape> {
  return new ActionBuilder({
    method: "POST",
    path: "/:id/clone",
    description: "Copies the record",
    query: {},
    readsBody: true,
    access: "create",
    authorizes: "operations",
    transactional: true,
    check(entity) {
      if (!Array.isArray(fieldsToExclude)) return 'cloneAction takes a list of fields, as in cloneAction(["slug"])';
      const unknown = fieldsToExclude.find((name) => !Object.hasOwn(entity.columns, name));
      return unknown === undefined ? undefined : `there is no field "${unknown}" to leave out`;
    },
    async describe({ scope, record }, { entity }) {
      if (!(await mayReadSome(scope, entity))) return undefined;
      const content = { "application/json": record(entity, "record") };
      const headers = {
        Location: "Where it is.",
        "X-Ignored-Fields": "Fields that were sent, and that the caller may not write.",
      };
      return {
        body: { required: false, content: { "application/json": record(entity, "update") } },
        answers: { 201: { description: "The copy.", content, headers } },
        errors: [403, 404, 409],
      };
    },
    async handler(context) {
      const { scope, entity, params, rules, root } = context;
      const overrides = overridesOf(context.input);
      const read: ReadOriginal = async (by) => {
        const { records } = await by.run({ kind: "read", entity, id: params.id, rules });
        return copyable(records[0] as Row, entity, by, fieldsToExclude);
      };
      const { records, ignored } = await createCopy(context, read, await read(scope), overrides);
      const location = `${root}/${routeSegment(entity)}/${encodeURIComponent(String(records[0]?.id))}`;
      const sent = ignored.filter((name) => Object.hasOwn(overrides, name.split(".", 1)[0] as string));
      return new Reply(201, records[0], { location, ...ignoredHeader(sent) });
    },
  });
}

function overridesOf(input: unknown): Overrides {
  if (input === undefined) return {};
  if (!isObject(input)) throw new BadRequestError("The body must be one JSON object");
  return input as Overrides;
}

/**
 * Creates the copy. Validation decides whether the caller may read a referenced record; optional references that it
 * refuses are left out.
 * @throws ValidationFailedError naming the values that have to be sent
 */
async function createCopy(
  context: ActionContext,
  read: ReadOriginal,
  copied: Row,
  overrides: Overrides,
): Promise<Operation> {
  const { scope, entity, params, rules } = context;
  const id = String(params.id);
  const decision = await scope.access.decide({ kind: "read", entity, id, rules });
  const data = (operation: Operation): Row => {
    whileReadable(operation, id, decision, async (inner) => {
      const shown = await read(inner);
      if (!Object.keys(copied).every((name) => Object.hasOwn(shown, name))) throw new RecordChangedError();
    });
    return { ...copied, ...overrides };
  };
  try {
    return await scope.run({ kind: "create", entity, rules, data });
  } catch (error) {
    if (!(error instanceof ValidationFailedError)) throw error;
    const refused = error.issues.filter(({ code }) => code === "invalid_reference").map(({ path }) => String(path[0]));
    const unseen = refused.filter(
      (name) => Object.hasOwn(copied, name) && !Object.hasOwn(overrides, name) && entity.columns[name]?.optional,
    );
    if (unseen.length === 0) throw withReasons(error, copied);
    const rest = Object.entries(copied).filter(([name]) => !unseen.includes(name));
    return createCopy(context, read, Object.fromEntries(rest), overrides);
  }
}

/**
 * Stores a copy only while the caller may read the original, and what is copied of it: the transaction of the copy, and
 * its statement, may wait for other writes. The copy itself does not count.
 */
function whileReadable(
  operation: Operation,
  id: string,
  decision: Decision,
  assertShown: (scope: OperationScope) => Promise<void>,
): void {
  const { entity, scope } = operation;
  const isOpen = decision.predicate === undefined && decision.guard === undefined;
  if (isOpen && !scope.access.mask(entity).readablePerRow?.size) return;
  let reasons: Reasons = new Map();
  operation.transactional = true;
  operation.whenHeld(async () => {
    await assertShown(operation.scope);
    reasons = await reasonsFor(operation.scope, entity, decision, [id]);
  });
  operation.whenDecidedAgain(async (writes) => {
    const allowed = await stillAllowed(operation.scope, entity, reasons, writes);
    if (!allowed.has(id)) throw new RecordChangedError();
  });
}

/** Adds the reason to errors about required values that were not copied. */
function withReasons({ issues }: ValidationFailedError, copied: Row): ValidationFailedError {
  return new ValidationFailedError(
    issues.map((issue) => {
      const [name] = issue.path;
      const isLeftOut = issue.code === "required" && name !== undefined && !Object.hasOwn(copied, name);
      return isLeftOut ? { ...issue, message: "is required and not copied; send it in the body" } : issue;
    }),
  );
}

/**
 * The fields that the caller may read and write, without the owner: the copy belongs to the caller, unless it is the
 * system.
 */
async function copyable(
  record: Row,
  entity: AnyEntity,
  scope: OperationScope,
  excluded: readonly string[],
): Promise<Row> {
  const shown = (await presentSettled(record, scope, false)) as Row;
  const { writable } = scope.access.mask(entity);
  const owner = Object.values(entity.columns).find(
    ({ relation }) => relation !== undefined && relation === entity.ownedBy,
  );
  const replaced = scope.principal.kind === "system" ? [] : [owner?.name];
  const left = new Set([...excluded, "id", "createdAt", "updatedAt", ...deletionFields(entity), ...replaced]);
  return Object.fromEntries(
    Object.entries(shown).filter(
      ([name]) => Object.hasOwn(entity.columns, name) && writable.has(name) && !left.has(name),
    ),
  );
}

function deletionFields(entity: AnyEntity): readonly string[] {
  return Object.values(entity.actions).flatMap((value) => {
    const found = definitionOf(value);
    return typeof found === "string" || found.deletesBy === undefined ? [] : [found.deletesBy(entity)];
  });
}
