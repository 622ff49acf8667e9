import type { RouteListing, Row } from "../../../src/index.ts";
import type { Canaries } from "../protected/canaries.ts";
import type { CallerName } from "../protected/truth.ts";
import type { RawResponse } from "../raw-response.ts";

/** What is attacked: an app that runs, what its callers may use, and what its database holds. */
export interface Target {
  readonly url: string;
  readonly port: number;
  /** Bearer tokens; nobody has none. */
  readonly tokens: Readonly<Record<CallerName, string | undefined>>;
  readonly routes: readonly RouteListing[];
  /** What is protected, and who may see it. */
  readonly canaries: Canaries;
  /** What was logged so far. */
  readonly lines: readonly string[];
  /** Rows as they are stored, past the framework, in the order of their ids. */
  stored(entity: string): Promise<Row[]>;
}

/** A request besides its method and path. */
export interface SentInit {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the caller's. */
  readonly token?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, parsed; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what an app answers has no type before somebody has looked at it
  readonly json: any;
}

/** An attacker's hands: what they do is counted, what they get out is kept. */
export interface Probe extends Target {
  send(caller: CallerName, method: string, path: string, init?: SentInit): Promise<Answer>;
  /** Sends a target exactly as it is written, which URLs would not survive. */
  sendTarget(caller: CallerName, method: string, target: string, headers?: readonly string[]): Promise<RawResponse>;
  /** Says that something was got out that should not have been. */
  found(sentence: string): void;
  /** Fails when the attack cannot work at all: what is wrong then is the attack. */
  control(holds: boolean, sentence: string): void;
}

/** A class of attacks. */
export interface Attack {
  readonly name: string;
  run(probe: Probe): Promise<void>;
}

/** What an attack came back with. */
export interface AttackResult {
  readonly findings: readonly string[];
  /** Requests that were sent. */
  readonly tried: number;
}
