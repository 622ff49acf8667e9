/** A document as it is sent. */
export interface WrittenDocument {
  readonly body: Uint8Array;
  /** Strong: of the very bytes. */
  readonly etag: string;
}

/** Documents by what they depend on: those that were asked for last, up to a number of bytes. */
export interface KeptDocuments {
  get(key: string): WrittenDocument | undefined;
  set(key: string, document: WrittenDocument): void;
}

/** @param mostBytes of all of them; a single one is kept whatever its size */
export function createKeptDocuments(mostBytes: number): KeptDocuments {
  const kept = new Map<string, WrittenDocument>();
  let bytes = 0;
  function take(key: string): WrittenDocument | undefined {
    const document = kept.get(key);
    kept.delete(key);
    bytes -= document?.body.length ?? 0;
    return document;
  }
  function put(key: string, document: WrittenDocument): void {
    kept.set(key, document);
    bytes += document.body.length;
  }
  return {
    get(key) {
      const document = take(key);
      if (document !== undefined) put(key, document); // as the last one
      return document;
    },
    set(key, document) {
      take(key);
      put(key, document);
      for (const oldest of kept.keys()) {
        if (bytes <= mostBytes || kept.size === 1) break;
        take(oldest);
      }
    },
  };
}
