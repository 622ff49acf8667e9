import type { Pool } from "pg";
import type { InvoiceInput } from "./input.ts";
import type { Invoice } from "./model.ts";

/** A page of invoices as they are stored. */
export async function listInvoices(pool: Pool, { sort, skip, take }: InvoiceInput): Promise<Invoice[]> {
  const order = sort ? ` ORDER BY "${sort.field}" ${sort.direction}` : "";
  const { rows } = await pool.query<Invoice>(`SELECT * FROM "invoice"${order} LIMIT $1 OFFSET $2`, [take, skip]);
  return rows;
}
