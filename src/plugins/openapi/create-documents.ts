import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { OperationScope } from "../../gate/index.ts";
import { createSerialQueue, UnavailableError } from "../../kernel/index.ts";
import { buildDocument, type DocumentSource, type Place } from "./build-document.ts";
import { createReaderViews } from "./reader-view.ts";

/** The document for the caller of a scope, which is to stay open until it is there. */
export type Documents = (
  scope: OperationScope,
  place: Place,
  info?: DocumentSource["options"]["info"],
) => Promise<WrittenDocument>;

/** Bytes of the documents that an app keeps. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** Documents that may wait to be made; each is of readers who may do something else, or of one reader alone. */
const MOST_WAITING = 64;

/**
 * The documents of one app. Readers with the same rights share one: it is made once, while the others wait for it.
 * Documents are made one at a time, so that many requests at once do not hold up the app.
 */
export function createDocuments(source: DocumentSource): Documents {
  const lookAt = createReaderViews(source.context);
  const kept = createKeptDocuments(KEPT_BYTES);
  const inWork = new Map<string, Promise<boolean>>();
  const queue = createSerialQueue();
  let waiting = 0;

  return async (scope, place, info = source.options.info) => {
    const view = await lookAt(scope);
    const about = JSON.stringify([place.prefix, place.base, info, source.notes.length]);
    const keyOf = async (): Promise<string | undefined> => digest(await view.key(), about);

    async function make(): Promise<WrittenDocument> {
      if (waiting >= MOST_WAITING) throw new UnavailableError("Too many documents are being made");
      waiting += 1;
      try {
        return await queue(async () => {
          scope.exchange?.signal?.throwIfAborted();
          const options = { ...source.options, info };
          return write(await buildDocument({ ...source, options }, view, place));
        });
      } finally {
        waiting -= 1;
      }
    }
    /** Whether others may have it, too. */
    async function share(made: Promise<WrittenDocument>): Promise<boolean> {
      const document = await made;
      const found = await keyOf(); // descriptions may have asked more
      if (found !== undefined) kept.set(found, document);
      return found !== undefined;
    }
    function begin(key: string): Promise<WrittenDocument> {
      const made = make();
      const shared = share(made);
      inWork.set(key, shared);
      const forget = (): void => {
        if (inWork.get(key) === shared) inWork.delete(key);
      };
      shared.then(forget, forget);
      return made;
    }

    for (let isAlone = false; ; ) {
      // Anew each time: what was made meanwhile is for this reader, too, only if all that it has asked is answered alike.
      const key = await keyOf();
      if (key === undefined) return await make();
      const known = kept.get(key);
      if (known !== undefined) return known;
      const other: Promise<boolean> | undefined = isAlone ? undefined : inWork.get(key);
      if (other === undefined) return await begin(key);
      // A failure may concern only the reader it happened to, so the first waiting reader that finds no work in
      // progress tries next.
      isAlone = !(await other.catch(() => true));
    }
  };
}

function digest(key: string | undefined, about: string): string | undefined {
  return key === undefined
    ? undefined
    : createHash("sha256").update(key).update("\n").update(about).digest("base64url");
}

function write(document: object): WrittenDocument {
  const body = Buffer.from(JSON.stringify(document));
  return Object.freeze({ body, etag: `"${createHash("sha256").update(body).digest("base64url")}"` });
}

/** A document as it is sent. */
interface WrittenDocument {
  readonly body: Uint8Array;
  /** Strong: of the very bytes. */
  readonly etag: string;
}

/** Documents by what they depend on: those that were asked for last, up to a number of bytes. */
type KeptDocuments = Pick<LRUCache<string, WrittenDocument>, "get" | "set">;

/** @param mostBytes of all of them; a single one that has more is not kept */
function createKeptDocuments(mostBytes: number): KeptDocuments {
  return new LRUCache({ maxSize: mostBytes, sizeCalculation: ({ body }) => body.length });
}
