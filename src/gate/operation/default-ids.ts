import { v7 } from "uuid";

/** Makes record ids: unique, opaque, at most 128 characters. The default makes UUIDs version 7. */
export interface IdGenerator {
  next(): string;
}

/** UUIDs version 7: unique without coordination, and in order of creation, which keeps indexes compact (RFC 9562). */
export const defaultIds: IdGenerator = Object.freeze({ next: () => v7() });
