import { datetime, entity, hasMany, int, selfRef, string } from "keelson";
import { customer } from "./customer.ts";

export const employee = entity("employee", {
  lastName: string.max(20).column("LastName"),
  firstName: string.max(20).column("FirstName"),
  title: string.max(30).optional().column("Title"),
  reportsTo: selfRef().optional().column("ReportsTo").onDelete("restrict"),
  birthDate: datetime.optional().column("BirthDate"),
  hireDate: datetime.optional().column("HireDate"),
  address: string.max(70).optional().column("Address"),
  city: string.max(40).optional().column("City"),
  state: string.max(40).optional().column("State"),
  country: string.max(40).optional().column("Country"),
  postalCode: string.max(10).optional().column("PostalCode"),
  phone: string.max(24).optional().column("Phone"),
  fax: string.max(24).optional().column("Fax"),
  email: string.max(60).optional().column("Email"),
  customers: hasMany(() => customer),
  employeesAsReportsTo: hasMany(() => employee).inverse("reportsTo"),
})
  .id(int.column("EmployeeId"))
  .table("Employee")
  .timestamps(false)
  .existing()
  .index(["reportsToId"])
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
