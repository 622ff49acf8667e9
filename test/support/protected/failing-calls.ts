import { NEW_KEY, OLD_KEY } from "./app.ts";
import type { RouteCall } from "./route-calls.ts";

/** Requests that run every kind of code of the app; the one that hashes a password comes last. */
export const FAILING_CALLS: readonly RouteCall[] = [
  { method: "GET", path: "/api/people?include=notes" },
  { method: "GET", path: "/api/people/ann" },
  { method: "PATCH", path: "/api/people/ann", body: { name: "ann", ownSecret: "s" } },
  { method: "DELETE", path: "/api/people/missing" },
  { method: "GET", path: "/raw/find" },
  { method: "GET", path: "/raw/nested" },
  { method: "GET", path: "/raw/service" },
  {
    method: "POST",
    path: "/api/people",
    body: { name: "x", password: "long enough", apiToken: "t", recovery: "r" },
  },
];

/** The keys of the app in every form in which they might appear. */
export const KEY_FORMS = [NEW_KEY, OLD_KEY].flatMap((hex) => {
  const bytes = Buffer.from(hex, "hex");
  const some = bytes.subarray(0, 4);
  return [hex, bytes.toString("base64").slice(0, 40), bytes.toString("latin1"), [...some].join(", ")].concat(
    some.toString("hex").replace(/(..)(?=.)/g, "$1 "),
  );
});
