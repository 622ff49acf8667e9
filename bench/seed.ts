import {
  type Customer,
  customerCount,
  type Invoice,
  invoiceCount,
  type Post,
  postCount,
  type User,
  userCount,
} from "./model.ts";

// Fixed ids of the length and form that a UUID v7 has, so that keys cost what they cost in use.
const id = (kind: string, index: number): string => `018f0000-0000-7000-8${kind}-${String(index).padStart(12, "0")}`;

/** The id of a seeded user, 0 to `userCount` - 1. */
export const userId = (index: number): string => id("001", index);

/** The id of a seeded post, 0 to `postCount` - 1. */
export const postId = (index: number): string => id("002", index);

/** The index of the user who owns a seeded post. */
export const authorIndex = (post: number): number => (post * 13) % userCount;

/** The id of a customer of the other service, 0 to `customerCount` - 1. */
export const customerId = (index: number): string => id("003", index);

/** The bearer token of a seeded user. */
export const tokenOf = (user: number): string => `token-${String(user).padStart(4, "0")}-c0ffee`;

/** Token → caller, what every contender authenticates with. */
export const callers: ReadonlyMap<string, { readonly id: string; readonly role: string }> = new Map(
  Array.from({ length: userCount }, (_, index) => [tokenOf(index), { id: userId(index), role: seedUser(index).role }]),
);

/** A seeded user. */
export function seedUser(index: number): User {
  return {
    id: userId(index),
    name: `User ${index}`,
    email: `user${index}@example.com`,
    role: index === 0 ? "admin" : "user",
  };
}

/** A seeded post. */
export function seedPost(index: number): Post {
  const created = new Date(Date.UTC(2024, 0, 1) + index * 61_003).toISOString();
  return {
    id: postId(index),
    title: `Post ${index}: notes on a voyage`,
    body: `Body of post ${index}. `.padEnd(220, "The keel is laid before the ribs are raised. "),
    published: index % 3 !== 0,
    // 7919 is coprime with the row count: every number of views occurs once, so a sorted page has one right order.
    views: (index * 7919) % postCount,
    authorId: userId(authorIndex(index)),
    createdAt: created,
    updatedAt: created,
  };
}

/** All seeded posts, in index order. */
export const seedPosts = (): Post[] => Array.from({ length: postCount }, (_, index) => seedPost(index));

/** A customer that the other service has. */
export function seedCustomer(index: number): Customer {
  return {
    id: customerId(index),
    name: `Customer ${index}`,
    email: `customer${index}@example.com`,
    city: `Harbour ${index % 40}`,
  };
}

/** A seeded invoice. Any 100 of them in a row have 100 different customers. */
export function seedInvoice(index: number): Invoice {
  return {
    id: id("004", index),
    number: `2024-${String(index).padStart(5, "0")}`,
    amount: (index * 31) % 9_000,
    customerId: customerId((index * 7) % customerCount),
  };
}

/** All customers, in index order. */
export const seedCustomers = (): Customer[] => Array.from({ length: customerCount }, (_, index) => seedCustomer(index));

/** All seeded invoices, in index order. */
export const seedInvoices = (): Invoice[] => Array.from({ length: invoiceCount }, (_, index) => seedInvoice(index));

/** All seeded users, in index order. */
export const seedUsers = (): User[] => Array.from({ length: userCount }, (_, index) => seedUser(index));
