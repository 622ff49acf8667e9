import { defineRule, type KeelsonConfig, keelson, type User } from "keelson";
import { album } from "./entities/album.ts";
import { artist } from "./entities/artist.ts";
import { customer } from "./entities/customer.ts";
import { employee } from "./entities/employee.ts";
import { genre } from "./entities/genre.ts";
import { invoice } from "./entities/invoice.ts";
import { invoiceLine } from "./entities/invoice-line.ts";
import { mediaType } from "./entities/media-type.ts";
import { playlist } from "./entities/playlist.ts";
import { track } from "./entities/track.ts";

// The entities stay as `keelson import` wrote them, so that it can be run again at any time. This file adds what the
// database does not know, such as access rules.

const staff = defineRule("staff", ({ user }) => user?.role === "staff");
const isCustomer = (user: User | null | undefined) => user?.role === "customer";
/** Passes for records of the calling customer; the `where` becomes part of the statement. */
const self = defineRule("self", ({ user }) => isCustomer(user) && { id: Number(user?.id) });
const billed = defineRule("billed", ({ user }) => isCustomer(user) && { customerId: Number(user?.id) });
const sold = defineRule("sold", ({ user }) => isCustomer(user) && { invoice: { customerId: Number(user?.id) } });

/** Everyone may read, the staff may change. */
const catalogue = { read: ["everyone"], create: [staff], update: [staff], delete: [staff] };

export type ShopOptions = Pick<KeelsonConfig, "driver" | "getUser" | "logger">;

/** The shop: the catalogue is public, customers see their own invoices, and the staff sees its customers. */
export function createShop(options: ShopOptions) {
  return keelson({
    entities: [
      artist.rules(catalogue),
      album.rules(catalogue),
      track.rules(catalogue),
      genre.rules(catalogue),
      mediaType.rules({ read: ["everyone"] }),
      playlist.rules(catalogue),
      employee.rules({ read: [staff] }),
      customer.rules({ read: [self, staff], update: [self] }),
      invoice.rules({ read: [staff, billed] }),
      invoiceLine.rules({ read: [staff, sold] }),
    ],
    ...options,
  });
}
