import { parse } from "csv-parse/sync";
import {
  type AnyEntity,
  belongsTo,
  bool,
  createPlugin,
  type Driver,
  datetime,
  defineRule,
  entity,
  enums,
  exportAction,
  float,
  int,
  json,
  noopLogger,
  type Row,
  string,
  text,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";

export const member = entity("member", { name: string })
  .ownedBy("id")
  .rules({ read: ["authenticated"] });

const isPublished = defineRule("isPublished", () => ({ published: true }));

/** A column of every kind, and every way to hide a column from a caller. */
export const entry = entity("entry", {
  title: string,
  body: text.optional(),
  views: int.default(0),
  rating: float.optional(),
  published: bool.default(false),
  status: enums("open", "-done").default("open"),
  at: datetime.optional(),
  meta: json.optional(),
  diary: string.encrypted().optional(),
  password: string.password({ cost: 1 }).optional(),
  token: string.omit().optional(),
  memo: string.optional().readable("owner"),
  note: string.optional().readable("admin"),
  goneAt: datetime.optional(),
  member: belongsTo(() => member),
})
  .ownedBy("member")
  .rules({ read: [isPublished, "owner", "admin"] })
  .actions({ export: exportAction });

/** Records that no caller may read. */
const gone = createPlugin({
  id: "gone",
  version: "1.0.0",
  hooks: {
    "operation:narrow": (operation) => {
      if (operation.entity.name === "entry") operation.require({ goneAt: null });
    },
  },
});

export const CALLERS = {
  anonymous: null,
  ann: { id: "ann" },
  bob: { id: "bob" },
  admin: { id: "root", role: "admin" },
};

export function exportApp(driver: Driver, logger = noopLogger) {
  return createTestApp({
    entities: [member, entry],
    driver,
    logger,
    plugins: [gone],
    encryption: { key: "a1".repeat(32) },
  });
}

/** The records of a CSV export as a strict parser reads them: an empty cell without quotes is null. */
export function readCsv(csv: string, of: AnyEntity): Row[] {
  const cast = (cell: string, { quoting, header }: { quoting: boolean; header: boolean }): unknown =>
    header || quoting || cell !== "" ? cell : null;
  const rows: Row[] = parse(csv, { columns: true, cast, record_delimiter: "\r\n" });
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, cell]) => {
        if (cell === null) return [name, null];
        const { kind } = of.columns[name] as AnyEntity["columns"][string];
        const read = (kind.fromCell ?? kind.parse)(cell as string);
        if (!read.ok) throw new TypeError(`${name} ${read.message}`);
        return [name, kind.toWire === undefined ? read.value : kind.toWire(read.value)];
      }),
    ),
  );
}
