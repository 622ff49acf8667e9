import { postgresAdapter } from "@payloadcms/db-postgres";
import { buildConfig, type CollectionConfig, type SanitizedConfig } from "payload";
import { callers } from "../../seed.ts";
import { twoAtATime } from "../two-at-a-time.ts";

/** Users, who are known by their bearer tokens. */
const user: CollectionConfig = {
  slug: "user",
  dbName: "payload_user",
  timestamps: false,
  access: { read: () => true },
  auth: {
    disableLocalStrategy: true,
    strategies: [
      {
        name: "token",
        authenticate({ headers }) {
          const header = headers.get("authorization");
          const caller = header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined;
          return { user: caller ? { ...caller, collection: "user" } : null };
        },
      },
    ],
  },
  fields: [
    { name: "name", type: "text", required: true },
    { name: "email", type: "email", required: true, unique: true },
    { name: "role", type: "text", required: true },
  ],
};

const post: CollectionConfig = {
  slug: "post",
  dbName: "payload_post",
  access: {
    read: () => true,
    create: ({ req }) => req.user !== null,
    update: ({ req }) => (req.user ? { author: { equals: req.user.id } } : false),
  },
  indexes: [{ fields: ["published", "views"] }],
  fields: [
    { name: "title", type: "text", required: true, minLength: 1, maxLength: 255 },
    { name: "body", type: "textarea", required: true, minLength: 1, maxLength: 10_000 },
    { name: "published", type: "checkbox", defaultValue: false },
    { name: "views", type: "number", defaultValue: 0, min: 0 },
    {
      name: "author",
      type: "relationship",
      relationTo: "user",
      access: { create: () => false, update: () => false },
      hooks: { beforeChange: [({ operation, req, value }) => (operation === "create" ? req.user?.id : value)] },
    },
  ],
};

/** The app without its admin pages. */
export const payloadConfig: Promise<SanitizedConfig> = buildConfig({
  secret: "never used: nobody signs",
  collections: [user, post],
  db: postgresAdapter({ idType: "uuidv7", pool: twoAtATime }),
  logger: { options: { level: "error" } },
  telemetry: false,
  typescript: { autoGenerate: false },
});
