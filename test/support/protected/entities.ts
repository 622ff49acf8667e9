import {
  belongsTo,
  datetime,
  defineRule,
  entity,
  hasMany,
  hasOne,
  int,
  json,
  manyToMany,
  type Row,
  selfRef,
  string,
  text,
} from "../../../src/index.ts";
import { sabotage } from "./sabotage.ts";

// Every way to protect a field, alone and combined, on entities that refer to each other in circles. truth.ts says which
// caller may read what, written by hand; nothing there is derived from this file.

/** An async rule that reads the entity whose fields it guards. */
const inHr = defineRule("inHr", async ({ user, driver }) => {
  sabotage.reach("rule");
  return user !== null && (await driver.findOne("person", { id: user.id }))?.department === "hr";
});
/** An async rule that reads the record, so it cannot be turned into a condition. */
const mentors = defineRule("mentors", async ({ user, record }) => user !== null && record?.mentor === user.id);
/** A condition on related records. */
const isViewer = defineRule("isViewer", ({ user }) => user !== null && { viewers: { id: user.id } });

export const person = entity("person", {
  name: string.validate((name) => sabotage.reach("field validator") && name !== "", "must not be empty"),
  department: string.default(() => sabotage.reach("default") && "none"),
  mentor: string.default("nobody"),
  password: string.password({ cost: 1 }),
  apiToken: string.omit(),
  recovery: string.encrypted().omit(),
  ssn: string.encrypted({ searchable: true }).unique(),
  diary: text.encrypted().optional(),
  accountNumber: int.encrypted({ searchable: true }).optional(),
  bornAt: datetime.encrypted().optional(),
  answers: json.encrypted().optional(),
  adminNote: string.readable("admin").optional(),
  adminSecret: string.encrypted({ searchable: true }).readable("admin").writable("admin").optional(),
  salary: int.readable("ownerOrAdmin").writable("admin").optional(),
  ownNote: string.readable("owner").optional(),
  ownSecret: text.encrypted({ searchable: true }).readable("ownerOrAdmin").writable("ownerOrAdmin").optional(),
  hrNote: string.readable(inHr).optional(),
  mentorNote: string.readable(mentors).optional(),
  nobodysNote: string.readable([]).optional(),
  boss: selfRef().optional(),
  reports: hasMany(() => person),
  notes: hasMany(() => note),
  vaults: hasMany(() => vault),
  badge: hasOne(() => badge),
  friends: manyToMany(() => person),
})
  .ownedBy("id")
  .validate((data: Row) => sabotage.reach("validator") && data.name !== "nobody", "nobody is nobody")
  .rules({ read: ["everyone"], create: ["everyone"], update: ["ownerOrAdmin"], delete: ["admin"] });

export const note = entity("note", {
  title: string,
  token: string.omit(),
  secret: text.encrypted(),
  memo: string.readable("owner"),
  shared: string.readable(isViewer),
  author: belongsTo(() => person),
  viewers: manyToMany(() => person),
})
  .ownedBy("author")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] });

/** Only an administrator sees that such a record exists. */
export const vault = entity("vault", {
  label: string,
  content: text.encrypted({ searchable: true }),
  holder: belongsTo(() => person),
}).rules({ read: ["admin"], create: ["admin"], update: ["admin"], delete: ["admin"] });

export const badge = entity("badge", {
  pin: string.password({ cost: 1 }),
  serial: int.readable("admin"),
  holder: belongsTo(() => person).unique(),
}).rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["admin"] });

export const protectedEntities = [person, note, vault, badge] as const;
