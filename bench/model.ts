/** The model in Prisma's words. Lower-case names, because Keelson names a model after its entity. */
export const prismaSchema = `
generator client {
  provider = "prisma-client"
}
datasource db {
  provider = "postgresql"
}
model user {
  id    String @id @default(uuid(7))
  name  String
  email String @unique
  role  String
  posts post[]
}
model post {
  id        String   @id @default(uuid(7))
  title     String
  body      String
  published Boolean  @default(false)
  views     Int      @default(0)
  authorId  String
  author    user     @relation(fields: [authorId], references: [id])
  createdAt DateTime @default(now())
  updatedAt DateTime @updatedAt
  @@index([authorId])
  @@index([published, views])
}
model invoice {
  id         String @id @default(uuid(7))
  number     String @unique
  amount     Int
  customerId String
}
`;

/** What `prisma migrate diff --from-empty` prints for the schema above; written out so that filling needs no engine. */
export const createTables = `
CREATE TABLE "user" (
  "id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "email" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "post" (
  "id" TEXT NOT NULL,
  "title" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "published" BOOLEAN NOT NULL DEFAULT false,
  "views" INTEGER NOT NULL DEFAULT 0,
  "authorId" TEXT NOT NULL,
  "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updatedAt" TIMESTAMP(3) NOT NULL,
  CONSTRAINT "post_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "user_email_key" ON "user"("email");
CREATE INDEX "post_authorId_idx" ON "post"("authorId");
CREATE INDEX "post_published_views_idx" ON "post"("published", "views");
ALTER TABLE "post" ADD CONSTRAINT "post_authorId_fkey" FOREIGN KEY ("authorId")
  REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
CREATE TABLE "invoice" (
  "id" TEXT NOT NULL,
  "number" TEXT NOT NULL,
  "amount" INTEGER NOT NULL,
  "customerId" TEXT NOT NULL,
  CONSTRAINT "invoice_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invoice_number_key" ON "invoice"("number");
`;

/** A user as it is stored and answered. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

/** A post as it is answered: dates are ISO 8601 strings in UTC with milliseconds. */
export interface Post {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly published: boolean;
  readonly views: number;
  readonly authorId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly author?: User;
}

/** A customer; another service has them. */
export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly city: string;
}

/** An invoice as it is stored and answered; `customer` is joined from the other service. */
export interface Invoice {
  readonly id: string;
  readonly number: string;
  readonly amount: number;
  readonly customerId: string;
  readonly customer?: Customer | null;
}

export const userCount = 1_000;
export const postCount = 20_000;
export const invoiceCount = 2_000;
export const customerCount = 500;

/** Records of one bulk request. */
export const bulkSize = 100;
