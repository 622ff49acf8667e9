import {
  type AnyEntity,
  action,
  belongsTo,
  bool,
  bulkUpdateAction,
  cloneAction,
  countAction,
  entity,
  existsAction,
  exportAction,
  importAction,
  int,
  manyToMany,
  string,
  text,
} from "../../../../src/index.ts";
import { person } from "../../protected/entities.ts";
import { csvFormulas } from "../csv-formulas.ts";
import { foreignIdsInBulk } from "../foreign-ids-in-bulk.ts";
import { foreignObjects } from "../foreign-objects.ts";
import { hiddenFields } from "../hidden-fields.ts";
import { massAssignment } from "../mass-assignment.ts";
import { outputPaths } from "../output-paths.ts";
import { unicodeIdentity } from "../unicode-identity.ts";
import { changed, type DeliberateHole, replaced } from "./deliberate-hole.ts";

// Defects in definitions: a careless rule, modifier or action.

const readingActions = { count: countAction, export: exportAction, exists: existsAction };

/** The entity before its fields were protected. */
const note = entity("note", {
  title: string,
  token: string,
  secret: text.encrypted(),
  memo: string,
  shared: string,
  author: belongsTo(() => person),
  viewers: manyToMany(() => person),
})
  .ownedBy("author")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({ ...readingActions, clone: cloneAction, bulkUpdate: bulkUpdateAction });

const accountRules = { read: ["authenticated"], create: ["everyone"], update: ["authenticated"], delete: ["admin"] };
const accountFields = {
  email: string.unique(),
  name: string.default("nobody"),
  role: string.default("user").writable("admin"),
  credit: int.default(0).writable("admin"),
  verified: bool.default(false).readonly(),
  password: string.password({ cost: 1 }),
  token: string.omit().writable("admin").optional(),
};
const accountActions = {
  bulkUpdate: bulkUpdateAction,
  import: importAction(),
  clone: cloneAction,
  export: exportAction,
};
const accountWith = (fields: object, actions: object = {}) =>
  entity("account", { ...accountFields, ...fields })
    .versioned()
    .rules(accountRules)
    .actions({ ...accountActions, ...actions });

/** Writes the request body to the database unchecked. */
const spreading = action("import").handler(({ input, unsafeDriver }) => {
  const now = new Date();
  const [given = {}] = [input].flat() as object[];
  const rest = { name: "x", role: "user", credit: 0, verified: false, password: "x", token: null, version: 1 };
  return unsafeDriver.create("account", { id: crypto.randomUUID(), createdAt: now, updatedAt: now, ...rest, ...given });
});

const letterActions = (letter: AnyEntity | undefined, actions: object) => ({ ...letter?.actions, ...actions });
const withLetterActions = (actions: object) => (entities: readonly AnyEntity[]) =>
  changed("letter", {
    actions: letterActions(
      entities.find(({ name }) => name === "letter"),
      actions,
    ),
  })(entities);

export const DEFINITION_HOLES: readonly DeliberateHole[] = [
  {
    what: "a read rule that is true for everybody",
    attack: foreignObjects,
    says: /GET \/api\/letters\/letter-\w+ was answered 200/,
    entities: changed("letter", {
      rules: { read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] },
    }),
  },
  {
    what: "an update rule that is true for whoever is logged in",
    attack: foreignObjects,
    says: /PATCH .*was answered 200/,
    entities: changed("letter", {
      rules: { read: ["owner"], create: ["authenticated"], update: ["authenticated"], delete: ["owner"] },
    }),
  },
  {
    what: "an action whose own rules are wider than its entity's",
    attack: foreignObjects,
    says: /report was answered 200/,
    entities: withLetterActions({
      report: action()
        .get()
        .onResource()
        .rules("authenticated")
        .handler(({ record }) => record),
    }),
  },
  {
    what: "a bulk action that changes whatever ids it is given",
    attack: foreignIdsInBulk,
    says: /counted \d+/,
    entities: withLetterActions({
      bulkUpdate: action("bulk-update")
        .rules("authenticated")
        .handler(async ({ input, driver }) => {
          const { ids, data } = input as { ids: string[]; data: { subject: string } };
          const where = { id: { in: ids } };
          return { count: await driver.updateMany("letter", where, { subject: data.subject }) };
        }),
    }),
  },
  {
    what: "fields without their modifiers, which can be asked for",
    attack: hiddenFields,
    says: /found \d+ by token/,
    entities: replaced(note),
  },
  {
    what: "fields without their modifiers, which are shown",
    attack: outputPaths,
    says: /notes.* shows note\.(?:token|memo)/,
    entities: replaced(note),
  },
  {
    what: "a field for administrators that everybody may write",
    attack: massAssignment,
    says: /"role":"admin"/,
    entities: replaced(accountWith({ role: string.default("user") })),
  },
  {
    what: "an action that spreads the body into a create",
    attack: massAssignment,
    says: /import .* stored/,
    entities: replaced(accountWith({}, { import: spreading })),
  },
  {
    what: "an address that is compared as it was typed",
    attack: unicodeIdentity,
    says: /share the address ann@host\.example/,
    entities: replaced(accountWith({})),
  },
  {
    what: "an export that pastes texts together",
    attack: csvFormulas,
    says: /begins like a formula/,
    entities: withLetterActions({
      export: action("export")
        .get()
        .rules("authenticated")
        .handler(async ({ driver, user }) => {
          const rows = await driver.findMany("letter", { where: { authorId: user?.id } });
          const lines = rows.map(({ subject }) => `"${String(subject).replaceAll('"', '""')}"`);
          return new Response(["subject", ...lines].join("\r\n"), { headers: { "content-type": "text/csv" } });
        }),
    }),
  },
];
