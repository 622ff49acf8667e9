-- CreateTable
CREATE TABLE "user" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'person',
    "password" TEXT NOT NULL,
    "apiToken" TEXT NOT NULL,
    "salary" INTEGER NOT NULL,
    "ssn" TEXT NOT NULL,
    "ssnBidx" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "post" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "title" TEXT NOT NULL,
    "slug" TEXT,
    "body" TEXT,
    "views" INTEGER NOT NULL DEFAULT 0,
    "rating" REAL,
    "published" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "due" DATETIME,
    "meta" JSONB,
    "pin" TEXT,
    "authorId" TEXT NOT NULL,
    "parentId" TEXT,
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "deletedAt" DATETIME,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT "post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "user" ("id") ON DELETE NO ACTION ON UPDATE CASCADE,
    CONSTRAINT "post_parentId_fkey" FOREIGN KEY ("parentId") REFERENCES "post" ("id") ON DELETE SET NULL ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "note" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "text" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "pinned" BOOLEAN,
    "authorId" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "note_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "user" ("id") ON DELETE NO ACTION ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "tag" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "bare" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "x" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "product" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "price" INTEGER NOT NULL,
    "stock" INTEGER NOT NULL,
    "subscriptionId" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "order" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "productId" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'open',
    "payment" TEXT,
    "customerId" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "order_productId_fkey" FOREIGN KEY ("productId") REFERENCES "product" ("id") ON DELETE NO ACTION ON UPDATE CASCADE,
    CONSTRAINT "order_customerId_fkey" FOREIGN KEY ("customerId") REFERENCES "user" ("id") ON DELETE NO ACTION ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "workflowRun" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "definition" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "caller" TEXT,
    "userId" TEXT,
    "input" TEXT,
    "data" TEXT,
    "failedStep" TEXT,
    "error" TEXT,
    "startedAt" DATETIME NOT NULL,
    "owner" TEXT,
    "leaseUntil" DATETIME NOT NULL,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "workflowStep" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "runId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "phase" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "result" TEXT,
    "memo" TEXT,
    "data" TEXT,
    "error" TEXT,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "idempotencyKey" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "fingerprint" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "leaseUntil" DATETIME NOT NULL,
    "expiresAt" DATETIME NOT NULL,
    "answer" TEXT
);

-- CreateTable
CREATE TABLE "auditEntry" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "at" DATETIME NOT NULL,
    "actorKind" TEXT NOT NULL,
    "actorId" TEXT,
    "operation" TEXT NOT NULL,
    "action" TEXT,
    "entity" TEXT NOT NULL,
    "recordId" TEXT NOT NULL,
    "requestId" TEXT,
    "changed" JSONB NOT NULL,
    "before" JSONB,
    "after" JSONB
);

-- CreateTable
CREATE TABLE "_post_tags" (
    "A" TEXT NOT NULL,
    "B" TEXT NOT NULL,
    CONSTRAINT "_post_tags_A_fkey" FOREIGN KEY ("A") REFERENCES "post" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "_post_tags_B_fkey" FOREIGN KEY ("B") REFERENCES "tag" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE UNIQUE INDEX "user_email_key" ON "user"("email");

-- CreateIndex
CREATE UNIQUE INDEX "user_ssnBidx_key" ON "user"("ssnBidx");

-- CreateIndex
CREATE UNIQUE INDEX "post_slug_key" ON "post"("slug");

-- CreateIndex
CREATE INDEX "post_authorId_idx" ON "post"("authorId");

-- CreateIndex
CREATE INDEX "post_parentId_idx" ON "post"("parentId");

-- CreateIndex
CREATE INDEX "note_authorId_idx" ON "note"("authorId");

-- CreateIndex
CREATE UNIQUE INDEX "tag_name_key" ON "tag"("name");

-- CreateIndex
CREATE INDEX "product_subscriptionId_idx" ON "product"("subscriptionId");

-- CreateIndex
CREATE INDEX "order_productId_idx" ON "order"("productId");

-- CreateIndex
CREATE INDEX "order_customerId_idx" ON "order"("customerId");

-- CreateIndex
CREATE INDEX "workflowRun_status_leaseUntil_idx" ON "workflowRun"("status", "leaseUntil");

-- CreateIndex
CREATE INDEX "workflowStep_runId_idx" ON "workflowStep"("runId");

-- CreateIndex
CREATE INDEX "idempotencyKey_expiresAt_idx" ON "idempotencyKey"("expiresAt");

-- CreateIndex
CREATE INDEX "auditEntry_entity_recordId_at_idx" ON "auditEntry"("entity", "recordId", "at");

-- CreateIndex
CREATE INDEX "auditEntry_actorId_at_idx" ON "auditEntry"("actorId", "at");

-- CreateIndex
CREATE INDEX "auditEntry_at_idx" ON "auditEntry"("at");

-- CreateIndex
CREATE UNIQUE INDEX "_post_tags_AB_unique" ON "_post_tags"("A", "B");

-- CreateIndex
CREATE INDEX "_post_tags_B_index" ON "_post_tags"("B");
