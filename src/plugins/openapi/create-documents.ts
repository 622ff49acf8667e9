import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { OperationScope } from "../../gate/index.ts";
import { createSerialQueue, UnavailableError } from "../../kernel/index.ts";
import { buildDocument, type DocumentSource, type Place } from "./build-document.ts";
import { createReaderViews } from "./reader-view.ts";

/** Returns the document for the caller of a scope. The scope must stay open until then. */
export type Documents = (
  scope: OperationScope,
  place: Place,
  info?: DocumentSource["options"]["info"],
) => Promise<WrittenDocument>;

/** The most bytes of cached documents. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** The most documents that wait to be made. Each is for other rights, or for a single reader. */
const MOST_WAITING = 64;

/**
 * Creates the documents of one app. Readers with the same rights share one document: it is made once, while the others
 * wait. Documents are made one at a time, so that many requests do not block the app.
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
    /** Caches a document if other readers may have it. @returns whether they may */
    async function share(made: Promise<WrittenDocument>): Promise<boolean> {
      const document = await made;
      const found = await keyOf(); // descriptions may have asked further questions
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
      // Computed again each time: a new document is only for this reader if all questions have the same answers.
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

/** A serialised document. */
interface WrittenDocument {
  readonly body: Uint8Array;
  /** A strong tag, of the exact bytes. */
  readonly etag: string;
}

/** Cached documents by everything that they depend on. The least recently used are dropped beyond a number of bytes. */
type KeptDocuments = Pick<LRUCache<string, WrittenDocument>, "get" | "set">;

/** @param mostBytes of all documents together; a larger single document is not cached */
function createKeptDocuments(mostBytes: number): KeptDocuments {
  return new LRUCache({ maxSize: mostBytes, sizeCalculation: ({ body }) => body.length });
}
