import { belongsTo, decimal, entity, int } from "keelson";
import { invoice } from "./invoice.ts";
import { track } from "./track.ts";

export const invoiceLine = entity("invoiceLine", {
  invoice: belongsTo(() => invoice).column("InvoiceId"),
  track: belongsTo(() => track).column("TrackId"),
  unitPrice: decimal(10, 2).column("UnitPrice"),
  quantity: int.column("Quantity"),
})
  .id(int.column("InvoiceLineId"))
  .table("InvoiceLine")
  .timestamps(false)
  .existing()
  .index(["invoiceId"])
  .index(["trackId"])
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
