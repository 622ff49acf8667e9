import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyPrismaClient } from "../../../src/drivers/prisma/index.ts";
import { type AnyEntity, type ConfigurationError, resolveEntity } from "../../../src/entity/index.ts";
import { type EntityLike, noopLogger, postgres, prisma } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { askPostgres, freshPostgres } from "../../support/databases.ts";
import { describePostgres } from "../../support/describe-postgres.ts";
import { clientOfSchema } from "../../support/generate-client.ts";
import { entitiesIn, keelson, makeFolder } from "./imported.ts";

/** A project of Prisma 7 as people have them: other names in the database, enums, compound ids, many-to-many. */
const SCHEMA = `generator client {
  provider = "prisma-client"
  output   = "../generated"
}
datasource db {
  provider = "postgresql"
}
enum OrderState {
  OPEN
  IN_TRANSIT @map("in transit")
  DONE
  @@map("order_state")
}
model Customer {
  id        String   @id @default(uuid()) @db.Uuid
  email     String   @unique
  fullName  String   @map("full_name")
  createdAt DateTime @default(now()) @map("created_at")
  updatedAt DateTime @updatedAt @map("updated_at")
  orders    Order[]
  @@map("customers")
}
model Order {
  id         Int         @id @default(autoincrement())
  state      OrderState  @default(OPEN)
  note       String?
  customer   Customer    @relation(fields: [customerId], references: [id], onDelete: Cascade)
  customerId String      @map("customer_id") @db.Uuid
  lines      OrderLine[]
  @@index([customerId, state])
  @@map("orders")
}
model Product {
  sku    String      @id @db.VarChar(20)
  price  Decimal     @db.Decimal(10, 2)
  labels Label[]
  lines  OrderLine[]
  @@map("products")
}
model Label {
  id       Int       @id @default(autoincrement())
  name     String    @unique
  products Product[]
  @@map("labels")
}
model OrderLine {
  order   Order   @relation(fields: [orderId], references: [id], onDelete: Cascade)
  orderId Int     @map("order_id")
  product Product @relation(fields: [sku], references: [sku])
  sku     String  @map("product_sku") @db.VarChar(20)
  amount  Int     @default(1)
  @@id([orderId, sku])
  @@map("order_lines")
}
`;

const PRODUCT = { sku: "TEA-1", price: "4.50", labels: { create: { name: "hot" } } };

/** What `prisma migrate` makes of it. */
const TABLES = `
CREATE TYPE "order_state" AS ENUM ('OPEN', 'in transit', 'DONE');
CREATE TABLE "customers" ("id" UUID NOT NULL, "email" TEXT NOT NULL, "full_name" TEXT NOT NULL,
  "created_at" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "updated_at" TIMESTAMP(3) NOT NULL,
  CONSTRAINT "customers_pkey" PRIMARY KEY ("id"));
CREATE TABLE "orders" ("id" SERIAL NOT NULL, "state" "order_state" NOT NULL DEFAULT 'OPEN', "note" TEXT,
  "customer_id" UUID NOT NULL, CONSTRAINT "orders_pkey" PRIMARY KEY ("id"));
CREATE TABLE "products" ("sku" VARCHAR(20) NOT NULL, "price" DECIMAL(10,2) NOT NULL,
  CONSTRAINT "products_pkey" PRIMARY KEY ("sku"));
CREATE TABLE "labels" ("id" SERIAL NOT NULL, "name" TEXT NOT NULL, CONSTRAINT "labels_pkey" PRIMARY KEY ("id"));
CREATE TABLE "order_lines" ("order_id" INTEGER NOT NULL, "product_sku" VARCHAR(20) NOT NULL,
  "amount" INTEGER NOT NULL DEFAULT 1, CONSTRAINT "order_lines_pkey" PRIMARY KEY ("order_id", "product_sku"));
CREATE TABLE "_LabelToProduct" ("A" INTEGER NOT NULL, "B" VARCHAR(20) NOT NULL,
  CONSTRAINT "_LabelToProduct_AB_pkey" PRIMARY KEY ("A", "B"));
CREATE UNIQUE INDEX "customers_email_key" ON "customers"("email");
CREATE INDEX "orders_customer_id_state_idx" ON "orders"("customer_id", "state");
CREATE UNIQUE INDEX "labels_name_key" ON "labels"("name");
CREATE INDEX "_LabelToProduct_B_index" ON "_LabelToProduct"("B");
ALTER TABLE "orders" ADD CONSTRAINT "orders_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "orders"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "order_lines" ADD CONSTRAINT "order_lines_product_sku_fkey" FOREIGN KEY ("product_sku") REFERENCES "products"("sku") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "_LabelToProduct" ADD CONSTRAINT "_LabelToProduct_A_fkey" FOREIGN KEY ("A") REFERENCES "labels"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "_LabelToProduct" ADD CONSTRAINT "_LabelToProduct_B_fkey" FOREIGN KEY ("B") REFERENCES "products"("sku") ON DELETE CASCADE ON UPDATE CASCADE;
`;

interface OwnClient extends AnyPrismaClient {
  readonly customer: { create(args: object): Promise<{ id: string }> };
  readonly order: { findFirst(args: object): Promise<object | null> };
}

let project: { folder: string; url: string; drop(): Promise<void>; client(): Promise<OwnClient> };
let entities: readonly EntityLike[];

beforeAll(async () => {
  const { url, drop } = await freshPostgres();
  const folder = await makeFolder();
  const Client = await clientOfSchema(SCHEMA, "postgresql");
  const client = async () => new Client({ adapter: new PrismaPg({ connectionString: url }) }) as OwnClient;
  project = { folder, url, drop, client };
  await askPostgres(url, TABLES);
  await writeFile(join(folder, "schema.prisma"), SCHEMA);
  const out = join(folder, "entities");
  const { code, said } = await keelson("import", `--prisma=${join(folder, "schema.prisma")}`, `--out=${out}`);
  expect([code, said]).toEqual([0, expect.stringMatching(/columns +18 +18\n[\s\S]*references +5 +5\n/)]);
  entities = (await entitiesIn(out)).map((one) => ({
    ...(resolveEntity(one as never) as AnyEntity),
    rules: { create: ["everyone"], read: ["everyone"], update: ["everyone"] },
  })) as never;
});
afterAll(async () => {
  await project?.drop();
  await rm(project?.folder, { recursive: true, force: true });
});

describe("a project of Prisma, imported", () => {
  it("serves the tables next to the project's own client, and changes none", async () => {
    const { client: open, url } = project;
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    const rows = async (sql: string) => (await pool.query(sql)).rows;
    const before = await describePostgres({ rows });
    const client = await open();
    const lines = { create: { amount: 2, product: { create: PRODUCT } } };
    const order = { create: { state: "IN_TRANSIT", lines } };
    const made = await client.customer.create({
      data: { email: "ann@shop.example", fullName: "Ann", orders: order },
    });

    const app = createTestApp({ entities, driver: postgres(url), logger: noopLogger } as never);
    await app.api.ready;
    const { request } = app.as(null);
    const read = async (path: string) => (await request("GET", `/api/${path}`)).body;
    expect(await read(`customers/${made.id}?include=orders.orderLines`)).toMatchObject({
      fullName: "Ann",
      orders: [{ state: "in transit", orderLines: [{ id: "1~TEA-1", amount: 2, productSkuId: "TEA-1" }] }],
    });
    expect(await read("products?labels.name=hot&include=labels")).toMatchObject([
      { id: "TEA-1", price: "4.50", labels: [{ name: "hot" }] },
    ]);

    const posted = await request("POST", "/api/orders", { customerId: made.id, state: "DONE", note: "of the API" });
    expect(posted).toMatchObject({ status: 201, body: { id: 2 } });
    const line = { orderId: 2, productSkuId: "TEA-1", amount: 3 };
    expect((await request("POST", "/api/order-lines", line)).status).toBe(201);
    expect((await request("PATCH", "/api/order-lines/2~TEA-1", { amount: 4 })).status).toBe(200);
    const asked = { where: { note: "of the API" }, include: { customer: true, lines: true } };
    expect(await client.order.findFirst(asked)).toMatchObject({
      ...{ id: 2, state: "DONE", customer: { email: "ann@shop.example" } },
      lines: [{ orderId: 2, sku: "TEA-1", amount: 4 }],
    });
    await app.close();
    await client.$disconnect();
    expect(await describePostgres({ rows })).toBe(before);
    await pool.end();
  });

  it("is told which names the client does not have", async () => {
    const driver = prisma(await project.client());
    const app = createTestApp({ entities, driver, logger: noopLogger } as never);
    const { problems } = await app.api.ready.then(
      () => ({ problems: [] }),
      (error: ConfigurationError) => error,
    );
    expect(problems).toEqual([
      'model orderLine of the Prisma client has no field "productSkuId"',
      'model product of the Prisma client has no field "id"',
      expect.stringMatching(/toPrismaSchema.*postgres\(url\)/),
    ]);
    await app.close();
  });
});
