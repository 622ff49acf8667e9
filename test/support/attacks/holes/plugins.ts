import { jwtVerify } from "jose";
import {
  BadRequestError,
  ConflictError,
  createPlugin,
  EntityNotFoundError,
  endpoint,
  type Plugin,
  type User,
} from "../../../../src/index.ts";
import { rateLimit } from "../../../../src/plugins/rate-limit/index.ts";
import { rawEndpoints } from "../../protected/raw-endpoints.ts";
import { atRest } from "../at-rest.ts";
import { ISSUER, LOGINS, TOKEN_SECRET } from "../attacked-app.ts";
import { existence } from "../existence.ts";
import { forgedTokens } from "../forged-tokens.ts";
import { outputPaths } from "../output-paths.ts";
import { prototypeNames } from "../prototype-names.ts";
import { rateLimitKeys } from "../rate-limit-keys.ts";
import { sharedAnswers } from "../shared-answers.ts";
import { sideDoors } from "../side-doors.ts";
import { unicodeIdentity } from "../unicode-identity.ts";
import type { DeliberateHole } from "./deliberate-hole.ts";

// Defects in plugins: code that bypasses the gate, reveals too much, or trusts the caller.

const adding = (plugin: Plugin) => (plugins: readonly Plugin[]) => [...plugins, plugin];
const inPlaceOf = (id: string, plugin: Plugin) => (plugins: readonly Plugin[]) =>
  plugins.map((one) => (one.id === id ? plugin : one));
const recognising = (getUser: NonNullable<Plugin["getUser"]>) =>
  inPlaceOf("jwt-auth", createPlugin({ id: "believing", getUser }));

/** The claims of a token, without verification. */
function claimed(authorization: string | null): User | null {
  const [, payload] = authorization?.replace("Bearer ", "").split(".") ?? [];
  if (payload === undefined) return null;
  const { sub, role } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  return { id: sub, role };
}

async function verified(authorization: string | null, idOf: (sub: string) => string): Promise<User | null> {
  if (authorization === null) return null;
  const token = authorization.replace("Bearer ", "");
  const { payload } = await jwtVerify(token, new TextEncoder().encode(TOKEN_SECRET), { issuer: ISSUER });
  return { id: idOf(String(payload.sub)), role: payload.role };
}

let lastCaller: User | null = null;

export const PLUGIN_HOLES: readonly DeliberateHole[] = [
  {
    what: "an endpoint that reads past the gate",
    attack: sideDoors,
    says: /GET \/all-letters was answered 200/,
    plugins: adding(
      createPlugin({
        id: "past-the-gate",
        setup({ routes, driver }) {
          const handler = () => driver.findMany("letter");
          routes.add({ method: "GET", path: "/all-letters", action: "letters", rules: ["everyone"], handler });
        },
      }),
    ),
  },
  {
    what: "a hook that lets everybody use every endpoint",
    attack: sideDoors,
    says: /GET \/unruled was answered 200/,
    plugins: adding(
      createPlugin({ id: "open-door", hooks: { "route:authorize": (asked) => void (asked.allowed = true) } }),
    ),
  },
  {
    what: "a hook that looks for the record before anybody asks who calls",
    attack: existence,
    says: /nobody is answered in \d+ ways/,
    plugins: adding(
      createPlugin({
        id: "early-look",
        setup({ hooks, driver }) {
          hooks.on("route:around", async ({ route, params }) => {
            const { id } = params;
            if (id === undefined || route.entity?.name !== "letter" || id.length > 100) return;
            if ((await driver.findOne("letter", { id })) === null) throw new EntityNotFoundError("There is no letter");
          });
        },
      }),
    ),
  },
  {
    what: "a unique value that is looked up before the rules are asked",
    attack: existence,
    says: /tells what is taken/,
    plugins: adding(
      createPlugin({
        id: "early-conflict",
        setup({ hooks, runAs }) {
          hooks.on("route:around", async ({ route, body }) => {
            if (route.entity?.name !== "person" || !["PUT", "PATCH"].includes(route.method)) return;
            const { ssn } = (await body()) as { ssn?: string };
            const where = { ssn: { eq: ssn } };
            const found = await runAs("system", (scope) =>
              scope.run({ kind: "count", entity: "person", query: { where } }),
            );
            if (found.total !== 0) throw new ConflictError("The ssn is taken");
          });
        },
      }),
    ),
  },
  {
    what: "a total that is counted before the rule",
    attack: existence,
    says: /counts \d+ of \d+/,
    plugins: adding(
      createPlugin({
        id: "early-total",
        setup({ hooks, driver }) {
          hooks.on("request:end", async ({ route, response }) => {
            if (route?.entity?.name === "letter" && route.action === "list")
              response.headers["x-total-count"] = String(await driver.count("letter"));
          });
        },
      }),
    ),
  },
  {
    what: "an error that says what it had in its hands",
    attack: outputPaths,
    says: /GET \/broken \(400\) shows/,
    plugins: adding(
      createPlugin({
        id: "talkative",
        setup({ hooks, driver }) {
          hooks.on("route:around", async ({ route }) => {
            if (route.path !== "/broken") return;
            throw new BadRequestError(
              `could not use ${JSON.stringify(await driver.findOne("note", { id: "note-ann" }))}`,
            );
          });
        },
      }),
    ),
  },
  {
    what: "a hook that logs the records it sees",
    attack: atRest,
    says: /a line of the log shows/,
    plugins: adding(
      createPlugin({
        id: "logging",
        setup({ hooks, log }) {
          hooks.on("operation:reveal", ({ entity, records }) => {
            if (entity.name === "letter") log.info("letters", { records: records?.map((row) => ({ ...row })) });
          });
        },
      }),
    ),
  },
  {
    what: "a journal of its own that keeps what steps were sent",
    attack: atRest,
    says: /a row of workflowRun holds/,
    plugins: adding(
      createPlugin({
        id: "own-journal",
        setup({ hooks, driver }) {
          hooks.on("route:around", async (call) => {
            if (call.route.action !== "renew") return;
            const sent = JSON.stringify(await call.body());
            const { respond } = call;
            call.respond = async (scope) => {
              const reply = await respond(scope);
              await driver.updateMany("workflowRun", { id: { null: false } }, { input: sent });
              return reply;
            };
          });
        },
      }),
    ),
  },
  {
    what: "a table of handlers that is an object",
    attack: prototypeNames,
    says: /GET \/raw\/\w+ was answered 2/,
    plugins: adding(
      createPlugin({
        id: "named-handlers",
        endpoints: {
          named: endpoint("/raw/:name", {
            rules: ["everyone"],
            handler: ({ params }) => typeof (rawEndpoints as Record<string, unknown>)[String(params.name)],
          }),
        },
      }),
    ),
  },
  {
    what: "tokens that are read and not verified",
    attack: forgedTokens,
    says: /alg none is somebody/,
    plugins: recognising(({ headers }) => claimed(headers.get("authorization"))),
  },
  {
    what: "tokens whose audience nobody looks at",
    attack: forgedTokens,
    says: /another audience is somebody/,
    plugins: recognising(({ headers }) =>
      verified(headers.get("authorization"), (sub) => sub).catch(() => ({ id: "guest" })),
    ),
  },
  {
    what: "a header that says who calls",
    attack: forgedTokens,
    says: /the header x-user-id is somebody/,
    plugins: recognising(
      async ({ headers }) =>
        (await verified(headers.get("authorization"), (sub) => sub).catch(() => null)) ??
        (headers.get("x-user-id") === null ? null : { id: headers.get("x-user-id"), role: "admin" }),
    ),
  },
  {
    what: "names that are made alike after they were checked",
    attack: unicodeIdentity,
    says: /is taken for ann/,
    plugins: recognising(({ headers }) =>
      verified(headers.get("authorization"), (sub) => sub.normalize("NFKC").trim().toLowerCase()),
    ),
  },
  {
    what: "a caller who is kept in a variable of the process",
    attack: sharedAnswers,
    says: /is answered as|was shown the letters|shows/,
    plugins: recognising(async ({ headers }) => {
      lastCaller = claimed(headers.get("authorization"));
      await new Promise((resolve) => setImmediate(resolve));
      return lastCaller;
    }),
  },
  {
    what: "a quota by an address that the caller says",
    attack: rateLimitKeys,
    says: /logins were let through/,
    plugins: inPlaceOf(
      "rate-limit",
      rateLimit({
        policies: [{ name: "logins", limit: LOGINS, window: 3_600, by: "address", for: { action: "login" } }],
        trustedProxies: 1,
      }),
    ),
  },
  {
    what: "a quota by whoever the caller is",
    attack: rateLimitKeys,
    says: /logins were let through/,
    plugins: inPlaceOf(
      "rate-limit",
      rateLimit({
        policies: [{ name: "logins", limit: LOGINS, window: 3_600, by: "caller", for: { action: "login" } }],
      }),
    ),
  },
];
