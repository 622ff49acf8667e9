import type { AnyEntity } from "../../entity/index.ts";
import { allOf, type KernelRequest, type Where } from "../../kernel/index.ts";
import { readTags, type Tag } from "./read-tags.ts";
import { versionOf } from "./record-tag.ts";

const ANY_RECORD: Where = Object.freeze({});
/** A condition that no record meets. */
export const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/** Whether a request asks anything of the record that it is about. */
export function asksOfRecord({ headers }: KernelRequest): boolean {
  return headers["if-match"] !== undefined || headers["if-none-match"] !== undefined;
}

/**
 * What a request that is no plain read asks of its record. What counts is the version, whatever of the record the tag's
 * answer showed. Records without versions have no tags: none matches, rather than any (RFC 9110, section 13.1.1).
 * @throws BadRequestError for headers that cannot be read
 */
export function askedOfRecord(request: KernelRequest, entity: AnyEntity): Where {
  return allOf(
    matching(readTags(request, "if-match"), entity),
    request.method === "GET" || request.method === "HEAD"
      ? undefined
      : differing(readTags(request, "if-none-match"), entity),
  );
}

function matching(tags: ReturnType<typeof readTags>, { versioned }: AnyEntity): Where {
  if (tags === undefined || tags === "any") return ANY_RECORD;
  // A weak tag says that something like it was there, not that it still is (RFC 9110, section 8.8.3.2).
  return versioned === undefined ? NO_RECORD : { version: { in: versionsOf(tags.filter(({ weak }) => !weak)) } };
}

function differing(tags: ReturnType<typeof readTags>, { versioned }: AnyEntity): Where | undefined {
  if (tags === undefined) return undefined;
  if (tags === "any") return NO_RECORD;
  return versioned === undefined ? undefined : { version: { nin: versionsOf(tags) } };
}

function versionsOf(tags: readonly Tag[]): readonly number[] {
  return tags.map(({ opaque }) => versionOf(opaque)).filter((version) => version !== undefined);
}
