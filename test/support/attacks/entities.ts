import {
  action,
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  datetime,
  email,
  entity,
  existsAction,
  exportAction,
  hasMany,
  importAction,
  int,
  restoreAction,
  type StepContext,
  softDeleteAction,
  step,
  string,
  text,
  toggleAction,
  unarchiveAction,
} from "../../../src/index.ts";
import * as shielded from "../protected/entities.ts";

// Entities whose fields are protected in every supported way, with every prebuilt action on those whose records belong to
// several users; and entities for the other kinds of attack. truth.ts says which caller may read what.

const readingActions = { count: countAction, export: exportAction, exists: existsAction };
const person = shielded.person.actions({ ...readingActions, bulkUpdate: bulkUpdateAction, import: importAction() });
const note = shielded.note.actions({ ...readingActions, clone: cloneAction, bulkUpdate: bulkUpdateAction });
const vault = shielded.vault.actions(readingActions);
const badge = shielded.badge.actions(readingActions);

type Renew = StepContext<{ readonly pin: string; readonly text: string }>;

/** Every way to access one record. */
const everyAction = {
  ...readingActions,
  softDelete: softDeleteAction,
  restore: restoreAction,
  archive: archiveAction,
  unarchive: unarchiveAction,
  toggle: toggleAction("pinned"),
  clone: cloneAction,
  bulkUpdate: bulkUpdateAction,
  bulkDelete: bulkDeleteAction,
  import: importAction(),
  // No rules of their own: reading actions inherit `read`, writing actions inherit `update`.
  report: action()
    .get()
    .onResource()
    .handler(async ({ record, driver, entity: { name } }) => ({
      record,
      again: await driver.findOne(name, { id: record.id }),
      wrapped: new Map([["first", [record]]]),
    })),
  rewrite: action()
    .onResource()
    .input({ text })
    .handler(({ record, driver, entity: { name }, input }) =>
      driver.update(name, { id: record.id }, { body: input.text }),
    ),
  renew: action()
    .onResource()
    .input({ pin: string.password(), text })
    .workflow([
      step("renew", ({ input, set }: Renew) => {
        set("sent", input.pin);
        return { kept: input.pin, text: input.text };
      }),
      step("end", ({ input }: Renew) => {
        if (input.text === "fail") throw new TypeError(`the pin ${input.pin} is too old`);
        return input.text;
      }),
    ]),
};

const owned = {
  read: ["owner"],
  create: ["authenticated"],
  update: ["owner"],
  delete: ["owner"],
} as const;

const privateFields = {
  subject: string.max(200),
  body: text,
  seal: text.encrypted(),
  stamp: string.omit().optional(),
  grade: int.readable("admin").writable("admin").default(0),
  pinned: bool.default(false),
  archived: bool.default(false),
  deletedAt: datetime.optional(),
  author: belongsTo(() => person),
};

/** Only the owner has access; other callers receive 403. */
const letter = entity("letter", { ...privateFields, attachments: hasMany(() => attachment) })
  .ownedBy("author")
  .softDelete()
  .rules(owned)
  .actions(everyAction);

/** Only the owner has access; other callers receive 404. */
const drawer = entity("drawer", privateFields)
  .ownedBy("author")
  .softDelete()
  .hideForbidden()
  .rules(owned)
  .actions(everyAction);

/** References records that may be private. */
const attachment = entity("attachment", {
  name: string,
  letter: belongsTo(() => letter),
  author: belongsTo(() => person),
})
  .ownedBy("author")
  .rules({ read: ["authenticated"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({ bulkUpdate: bulkUpdateAction, import: importAction() });

/** Anyone may sign up with an address that is not taken. */
const account = entity("account", {
  email: email.lower().trim().unique(),
  name: string.default("nobody"),
  role: string.default("user").writable("admin"),
  credit: int.default(0).writable("admin"),
  verified: bool.default(false).readonly(),
  password: string.password({ cost: 1 }),
  token: string.omit().writable("admin").optional(),
})
  .versioned()
  .rules({ read: ["authenticated"], create: ["everyone"], update: ["authenticated"], delete: ["admin"] })
  .actions({ bulkUpdate: bulkUpdateAction, import: importAction(), clone: cloneAction, export: exportAction });

/** Joined with the records of a remote service. */
const parcel = entity("parcel", {
  label: string,
  recipient: belongsTo(() => contact)
    .remote("crm")
    .optional(),
}).rules({ read: ["everyone"], create: ["admin"], update: ["admin"], delete: ["admin"] });

const contact = entity("contact", {
  name: string,
  secret: string.omit().optional(),
  pin: string.password({ cost: 1 }).optional(),
  margin: string.readable("admin").optional(),
}).rules({ read: ["everyone"] });

/** Has no rules and no owner. */
const bare = entity("bare", { text }).actions(readingActions);

export const attackedEntities = [
  person,
  note,
  vault,
  badge,
  letter,
  drawer,
  attachment,
  account,
  parcel,
  contact,
  bare,
] as const;
