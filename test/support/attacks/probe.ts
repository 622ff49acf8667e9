import type { RouteListing, Row } from "../../../src/index.ts";
import type { Canaries } from "../protected/canaries.ts";
import type { CallerName } from "../protected/truth.ts";
import type { RawResponse } from "../raw-response.ts";

/** The target of an attack: a running app, the credentials of its callers, and the contents of its database. */
export interface Target {
  readonly url: string;
  readonly port: number;
  /** Bearer tokens; the anonymous caller has no token. */
  readonly tokens: Readonly<Record<CallerName, string | undefined>>;
  readonly routes: readonly RouteListing[];
  /** The protected values, and which caller may see each of them. */
  readonly canaries: Canaries;
  /** The log so far. */
  readonly lines: readonly string[];
  /** Rows as stored, read without Keelson, ordered by id. */
  stored(entity: string): Promise<Row[]>;
}

/** A request, except its method and path. */
export interface SentInit {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, in place of `body`. */
  readonly raw?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent in place of the caller's token. */
  readonly token?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a response has no type before a test has checked it
  readonly json: any;
}

/** An attacker's tools: requests are counted, findings are kept. */
export interface Probe extends Target {
  send(caller: CallerName, method: string, path: string, init?: SentInit): Promise<Answer>;
  /** Sends a target exactly as written; `URL` would normalise it. */
  sendTarget(caller: CallerName, method: string, target: string, headers?: readonly string[]): Promise<RawResponse>;
  /** Reports a leak. */
  found(sentence: string): void;
  /** Fails when the attack cannot work: the defect is then in the attack. */
  control(holds: boolean, sentence: string): void;
}

/** A class of attacks. */
export interface Attack {
  readonly name: string;
  run(probe: Probe): Promise<void>;
}

/** The result of an attack. */
export interface AttackResult {
  readonly findings: readonly string[];
  /** Number of requests sent. */
  readonly tried: number;
}
