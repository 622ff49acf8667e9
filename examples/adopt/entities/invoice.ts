import { belongsTo, datetime, decimal, entity, hasMany, int, string } from "keelson";
import { customer } from "./customer.ts";
import { invoiceLine } from "./invoice-line.ts";

export const invoice = entity("invoice", {
  customer: belongsTo(() => customer).column("CustomerId"),
  invoiceDate: datetime.column("InvoiceDate"),
  billingAddress: string.max(70).optional().column("BillingAddress"),
  billingCity: string.max(40).optional().column("BillingCity"),
  billingState: string.max(40).optional().column("BillingState"),
  billingCountry: string.max(40).optional().column("BillingCountry"),
  billingPostalCode: string.max(10).optional().column("BillingPostalCode"),
  total: decimal(10, 2).column("Total"),
  invoiceLines: hasMany(() => invoiceLine),
})
  .id(int.column("InvoiceId"))
  .table("Invoice")
  .timestamps(false)
  .existing()
  .index(["customerId"])
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
