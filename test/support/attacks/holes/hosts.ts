import type { ServableApp } from "../../../../src/adapters/node/index.ts";
import { type Condition, withMiddleware } from "../../../../src/gate/index.ts";
import type { Driver } from "../../../../src/index.ts";
import type { KernelRequest } from "../../../../src/kernel/index.ts";
import type { KernelResponse } from "../../../../src/plugin.ts";
import { foreignIdsInBulk } from "../foreign-ids-in-bulk.ts";
import { foreignObjects } from "../foreign-objects.ts";
import { identifiers } from "../identifiers.ts";
import { otherNotations } from "../other-notations.ts";
import { otherPaths } from "../other-paths.ts";
import { pageSizes } from "../page-sizes.ts";
import { sharedAnswers } from "../shared-answers.ts";
import { changed, type DeliberateHole } from "./deliberate-hole.ts";

// Defects around the app: in front of it, below it, and in its configuration.

type Handle = (request: KernelRequest) => Promise<KernelResponse>;

/** The app behind a layer that may change a request, or answer it. */
const inFront =
  (before: (request: KernelRequest, handle: Handle) => Promise<KernelResponse>) => (api: ServableApp) => ({
    ...api,
    handle: (request: KernelRequest) => before(request, (passed) => api.handle(passed)),
  });

/** A request with some properties overridden, because a node:http request cannot be copied. */
function saying(request: KernelRequest, change: Partial<KernelRequest>): KernelRequest {
  return new Proxy(request, {
    get(_, name) {
      if (Object.hasOwn(change, name)) return Reflect.get(change, name);
      const value: unknown = Reflect.get(request, name, request);
      return typeof value === "function" ? value.bind(request) : value;
    },
  });
}

const cache = new Map<string, Promise<KernelResponse>>();
const OURS = /^(?:_\w+|include|select|q|format|id|name|boss|\w+_(?:like|in|ne|gte?|lte?))=/;

export const HOST_HOLES: readonly DeliberateHole[] = [
  {
    what: "a cache whose key has no caller",
    attack: sharedAnswers,
    says: /is answered as|was shown the letters|shows/,
    serves(api) {
      cache.clear();
      return inFront(async (request, handle) => {
        if (request.method !== "GET") return handle(request);
        const answer = cache.get(request.url) ?? handle(request);
        cache.set(request.url, answer);
        const { status, headers, body } = await answer;
        return { status, headers: { ...headers }, body };
      })(api);
    },
  },
  {
    what: "parameters that are dropped where nobody knows them",
    attack: otherNotations,
    says: /where\[.* was answered 200/,
    serves: inFront((request, handle) => {
      const [path = "", query = ""] = request.url.split("?");
      const known = query.split("&").filter((part) => OURS.test(decodeURIComponent(part)));
      return handle(saying(request, { url: `${path}?${known.join("&")}` }));
    }),
  },
  {
    what: "names that are cleaned until they fit",
    attack: identifiers,
    says: /_sort=.* was answered 200/,
    serves: inFront((request, handle) => {
      const url = request.url.replace(/(_sort=)([^&]*)/, (_, key, names) => `${key}${/\w+/.exec(names)?.[0] ?? "id"}`);
      return handle(saying(request, { url }));
    }),
  },
  {
    what: "a guard in front in place of rules, which reads paths letter by letter",
    attack: otherPaths,
    says: /\/every-vault|\/api\/vaults/,
    entities: changed("vault", {
      rules: { read: ["everyone"], create: ["admin"], update: ["admin"], delete: ["admin"] },
    }),
    serves: inFront((request, handle) => {
      const isGuarded = ["/api/vaults", "/every-vault"].includes(request.url.replace(/\?.+$/, ""));
      return handle(isGuarded ? saying(request, { url: "/nowhere" }) : request);
    }),
  },
  {
    what: "a header that makes one method another",
    attack: otherPaths,
    says: /a letter was deleted by another method/,
    serves: inFront((request, handle) => {
      const method = request.headers["x-http-method-override"];
      return handle(typeof method === "string" ? saying(request, { method }) : request);
    }),
  },
  {
    what: "a driver that looks for the id and forgets the rest of the condition",
    attack: foreignObjects,
    says: /was answered 2|changed letter/,
    driver: forgetful,
  },
  {
    what: "a driver that forgets what is beside the ids of a bulk",
    attack: foreignIdsInBulk,
    says: /counted \d+|changed what is somebody else's/,
    driver: forgetful,
  },
  {
    what: "pages without a limit",
    attack: pageSizes,
    says: /shows \d+ records/,
    config: { limits: { maxPageSize: 1_000_000, inValues: 1_000 } },
  },
];

/** Finds and changes records by id alone, also in transactions. */
function forgetful(driver: Driver): Driver {
  return withMiddleware(driver, (statement, next) => {
    if (statement.kind !== "find" && statement.kind !== "update" && statement.kind !== "delete") return next(statement);
    return next({ ...statement, where: findId(statement.where) ?? statement.where });
  });
}

/** Keeps the first condition on ids, at any depth, and drops the rest. */
function findId(where: Condition): Condition | undefined {
  if (where.op === "and") return where.of.map(findId).find((part) => part !== undefined);
  return where.op === "compare" && where.column.role === "id" ? where : undefined;
}
