import { v7 } from "uuid";
import type { IdGenerator } from "../ports/clock.ts";

/** UUIDs version 7: unique without coordination, and in order of creation, which keeps indexes compact (RFC 9562). */
export const defaultIds: IdGenerator = Object.freeze({ next: () => v7() });
