import {
  belongsTo,
  bool,
  defineRule,
  embedded,
  entity,
  exportAction,
  hasMany,
  type KeelsonConfig,
  keelson,
  string,
  text,
} from "keelson";

const notesFile = process.env.NOTES_FILE ?? ".keelson/notes.db";

/** Passes for published notes; the `where` becomes part of the statement. */
const published = defineRule("published", () => ({ published: true }));

const user = entity("user", { name: string.trim().min(1).max(80), notes: hasMany(() => note) })
  .ownedBy("id")
  .rules({ read: ["everyone"] });

const note = entity("note", {
  title: string.trim().min(1).max(120),
  text: text.max(10_000).optional(),
  published: bool.default(false),
  author: belongsTo(() => user),
})
  .ownedBy("author")
  .rules({ read: [published, "owner"], create: ["authenticated"], update: ["owner"], delete: ["ownerOrAdmin"] })
  .actions({ export: exportAction });

export type NotesOptions = Pick<KeelsonConfig, "driver" | "logger" | "plugins" | "production">;

/** Notes and their authors. The server identifies callers, because each framework has its own request. */
export function createNotes({ driver = embedded({ file: notesFile }), ...options }: NotesOptions = {}) {
  return keelson({ entities: [user, note], driver, ...options });
}

export type NotesApi = ReturnType<typeof createNotes>;
