/** Tables of a contender that cannot use those of everybody else, with the same records. */
export interface OwnTables {
  /** Creates them, in place of those of an earlier run. */
  readonly create: string;
  /** Fills them from the others. */
  readonly fill: string;
  /** The ones that change, emptied before they are filled. */
  readonly changing: string;
}

/** What Payload's own `push` creates for the app in `peers/payload`, as far as its requests use it. */
const payload: OwnTables = {
  create: `
DROP TABLE IF EXISTS "payload_locked_documents_rels", "payload_locked_documents", "payload_post", "payload_user";
CREATE TABLE "payload_user" (
  "id" UUID PRIMARY KEY,
  "name" VARCHAR NOT NULL,
  "email" VARCHAR NOT NULL,
  "role" VARCHAR NOT NULL
);
CREATE UNIQUE INDEX "payload_user_email_idx" ON "payload_user" ("email");
CREATE TABLE "payload_post" (
  "id" UUID PRIMARY KEY,
  "title" VARCHAR NOT NULL,
  "body" VARCHAR NOT NULL,
  "published" BOOLEAN DEFAULT false,
  "views" NUMERIC DEFAULT 0,
  "author_id" UUID REFERENCES "payload_user" ("id") ON DELETE SET NULL,
  "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL DEFAULT now(),
  "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL DEFAULT now()
) WITH (autovacuum_enabled = false);
CREATE INDEX "payload_post_author_idx" ON "payload_post" ("author_id");
CREATE INDEX "payload_post_created_at_idx" ON "payload_post" ("created_at");
CREATE INDEX "payload_post_updated_at_idx" ON "payload_post" ("updated_at");
CREATE INDEX "published_views_idx" ON "payload_post" ("published", "views");
CREATE TABLE "payload_locked_documents" (
  "id" UUID PRIMARY KEY,
  "global_slug" VARCHAR,
  "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL DEFAULT now(),
  "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL DEFAULT now()
);
CREATE INDEX "payload_locked_documents_global_slug_idx" ON "payload_locked_documents" ("global_slug");
CREATE INDEX "payload_locked_documents_created_at_idx" ON "payload_locked_documents" ("created_at");
CREATE INDEX "payload_locked_documents_updated_at_idx" ON "payload_locked_documents" ("updated_at");
CREATE TABLE "payload_locked_documents_rels" (
  "id" SERIAL PRIMARY KEY,
  "order" INTEGER,
  "parent_id" UUID NOT NULL REFERENCES "payload_locked_documents" ("id") ON DELETE CASCADE,
  "path" VARCHAR NOT NULL,
  "payload_user_id" UUID REFERENCES "payload_user" ("id") ON DELETE CASCADE,
  "payload_post_id" UUID REFERENCES "payload_post" ("id") ON DELETE CASCADE
);
CREATE INDEX "payload_locked_documents_rels_order_idx" ON "payload_locked_documents_rels" ("order");
CREATE INDEX "payload_locked_documents_rels_parent_idx" ON "payload_locked_documents_rels" ("parent_id");
CREATE INDEX "payload_locked_documents_rels_path_idx" ON "payload_locked_documents_rels" ("path");
CREATE INDEX "payload_locked_documents_rels_payload_user_id_idx" ON "payload_locked_documents_rels" ("payload_user_id");
CREATE INDEX "payload_locked_documents_rels_payload_post_id_idx" ON "payload_locked_documents_rels" ("payload_post_id");
INSERT INTO "payload_user" SELECT "id"::uuid, "name", "email", "role" FROM "user";`,
  changing: `"payload_post", "payload_locked_documents", "payload_locked_documents_rels"`,
  fill: `INSERT INTO "payload_post" SELECT "id"::uuid, "title", "body", "published", "views", "authorId"::uuid,
    "updatedAt" AT TIME ZONE 'UTC', "createdAt" AT TIME ZONE 'UTC' FROM "post"`,
};

/** The tables of the contenders that have their own, by the contenders' ids. */
export const ownTables: Readonly<Record<string, OwnTables>> = { payload };
