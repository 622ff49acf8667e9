import { LRUCache } from "lru-cache";

/** A document as it is sent. */
export interface WrittenDocument {
  readonly body: Uint8Array;
  /** Strong: of the very bytes. */
  readonly etag: string;
}

/** Documents by what they depend on: those that were asked for last, up to a number of bytes. */
export type KeptDocuments = Pick<LRUCache<string, WrittenDocument>, "get" | "set">;

/** @param mostBytes of all of them; a single one that has more is not kept */
export function createKeptDocuments(mostBytes: number): KeptDocuments {
  return new LRUCache({ maxSize: mostBytes, sizeCalculation: ({ body }) => body.length });
}
