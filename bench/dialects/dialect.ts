import type { LoadRequest } from "../workloads.ts";
import type { Question } from "./question.ts";

/** An answer in Keelson's words. */
export interface Told {
  /** The record, the list of records or the count, as Keelson answers them. */
  readonly value: unknown;
  /** How many there are on all pages, where the answer says so. */
  readonly total?: number;
}

/** How a library asks and answers, whose routes are its own. */
export interface Dialect {
  /** The method, path and body that ask this of it; headers are those of the plain request. */
  request(question: Question): Omit<LoadRequest, "headers">;
  /** Its good answer in Keelson's words. */
  told(question: Question, body: unknown): Told;
  /** The statuses that it refuses with where Keelson has another one; by kind of question, then by Keelson's status. */
  readonly statuses: { readonly [K in Question["kind"]]?: Readonly<Record<number, readonly number[]>> };
}
