-- CreateTable
CREATE TABLE "user" (
    "id" VARCHAR(128) NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "email" VARCHAR(255) NOT NULL,
    "role" VARCHAR(255) NOT NULL DEFAULT 'person',
    "password" VARCHAR(255) NOT NULL,
    "apiToken" VARCHAR(255) NOT NULL,
    "salary" INTEGER NOT NULL,
    "ssn" TEXT NOT NULL,
    "ssnBidx" VARCHAR(64) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "post" (
    "id" VARCHAR(128) NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "slug" VARCHAR(255),
    "body" TEXT,
    "views" INTEGER NOT NULL DEFAULT 0,
    "rating" DOUBLE PRECISION,
    "published" BOOLEAN NOT NULL DEFAULT false,
    "status" VARCHAR(255) NOT NULL DEFAULT 'draft',
    "due" TIMESTAMP(3),
    "meta" JSONB,
    "pin" VARCHAR(255),
    "authorId" VARCHAR(128) NOT NULL,
    "parentId" VARCHAR(128),
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "deletedAt" TIMESTAMP(3),
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "post_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "note" (
    "id" VARCHAR(128) NOT NULL,
    "text" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "pinned" BOOLEAN,
    "authorId" VARCHAR(128) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "note_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tag" (
    "id" VARCHAR(128) NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tag_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bare" (
    "id" VARCHAR(128) NOT NULL,
    "x" VARCHAR(255) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bare_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "product" (
    "id" VARCHAR(128) NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "price" INTEGER NOT NULL,
    "stock" INTEGER NOT NULL,
    "subscriptionId" VARCHAR(128),
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "product_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "order" (
    "id" VARCHAR(128) NOT NULL,
    "productId" VARCHAR(128) NOT NULL,
    "count" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,
    "status" VARCHAR(255) NOT NULL DEFAULT 'open',
    "payment" VARCHAR(255),
    "customerId" VARCHAR(128) NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "order_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflowRun" (
    "id" VARCHAR(128) NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "definition" VARCHAR(255) NOT NULL,
    "status" VARCHAR(255) NOT NULL,
    "caller" TEXT,
    "userId" VARCHAR(255),
    "input" TEXT,
    "data" TEXT,
    "failedStep" VARCHAR(255),
    "error" TEXT,
    "startedAt" TIMESTAMP(3) NOT NULL,
    "owner" VARCHAR(255),
    "leaseUntil" TIMESTAMP(3) NOT NULL,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflowRun_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflowStep" (
    "id" VARCHAR(128) NOT NULL,
    "runId" VARCHAR(255) NOT NULL,
    "seq" INTEGER NOT NULL,
    "phase" VARCHAR(255) NOT NULL,
    "status" VARCHAR(255) NOT NULL,
    "attempt" INTEGER NOT NULL,
    "result" TEXT,
    "memo" TEXT,
    "data" TEXT,
    "error" TEXT,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflowStep_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotencyKey" (
    "id" VARCHAR(128) NOT NULL,
    "fingerprint" VARCHAR(255) NOT NULL,
    "token" VARCHAR(255) NOT NULL,
    "owner" VARCHAR(255) NOT NULL,
    "status" VARCHAR(255) NOT NULL,
    "leaseUntil" TIMESTAMP(3) NOT NULL,
    "expiresAt" TIMESTAMP(3) NOT NULL,
    "answer" TEXT,

    CONSTRAINT "idempotencyKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auditEntry" (
    "id" VARCHAR(128) NOT NULL,
    "at" TIMESTAMP(3) NOT NULL,
    "actorKind" VARCHAR(255) NOT NULL,
    "actorId" VARCHAR(255),
    "operation" VARCHAR(255) NOT NULL,
    "action" VARCHAR(255),
    "entity" VARCHAR(255) NOT NULL,
    "recordId" VARCHAR(255) NOT NULL,
    "requestId" VARCHAR(255),
    "changed" JSONB NOT NULL,
    "before" JSONB,
    "after" JSONB,

    CONSTRAINT "auditEntry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "_post_tags" (
    "A" VARCHAR(128) NOT NULL,
    "B" VARCHAR(128) NOT NULL,

    CONSTRAINT "_post_tags_AB_pkey" PRIMARY KEY ("A","B")
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
CREATE INDEX "_post_tags_B_index" ON "_post_tags"("B");

-- AddForeignKey
ALTER TABLE "post" ADD CONSTRAINT "post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "user"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "post" ADD CONSTRAINT "post_parentId_fkey" FOREIGN KEY ("parentId") REFERENCES "post"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "note" ADD CONSTRAINT "note_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "user"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "order" ADD CONSTRAINT "order_productId_fkey" FOREIGN KEY ("productId") REFERENCES "product"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "order" ADD CONSTRAINT "order_customerId_fkey" FOREIGN KEY ("customerId") REFERENCES "user"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "_post_tags" ADD CONSTRAINT "_post_tags_A_fkey" FOREIGN KEY ("A") REFERENCES "post"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "_post_tags" ADD CONSTRAINT "_post_tags_B_fkey" FOREIGN KEY ("B") REFERENCES "tag"("id") ON DELETE CASCADE ON UPDATE CASCADE;
