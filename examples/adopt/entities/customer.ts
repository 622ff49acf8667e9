import { belongsTo, entity, hasMany, int, string } from "keelson";
import { employee } from "./employee.ts";
import { invoice } from "./invoice.ts";

export const customer = entity("customer", {
  firstName: string.max(40).column("FirstName"),
  lastName: string.max(20).column("LastName"),
  company: string.max(80).optional().column("Company"),
  address: string.max(70).optional().column("Address"),
  city: string.max(40).optional().column("City"),
  state: string.max(40).optional().column("State"),
  country: string.max(40).optional().column("Country"),
  postalCode: string.max(10).optional().column("PostalCode"),
  phone: string.max(24).optional().column("Phone"),
  fax: string.max(24).optional().column("Fax"),
  email: string.max(60).column("Email"),
  supportRep: belongsTo(() => employee).optional().column("SupportRepId").onDelete("restrict"),
  invoices: hasMany(() => invoice),
})
  .id(int.column("CustomerId"))
  .table("Customer")
  .timestamps(false)
  .existing()
  .index(["supportRepId"])
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
