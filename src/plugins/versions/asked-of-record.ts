import type { AnyEntity } from "../../entity/index.ts";
import { allOf, type KernelRequest, type RouteContext, type Where } from "../../kernel/index.ts";
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
 * answer showed. Records without versions have no tags, and neither have any for callers whose mask hides the version: none
 * matches, rather than any (RFC 9110, section 13.1.1).
 * @throws BadRequestError for headers that cannot be read
 */
export function askedOfRecord({ request, scope }: Pick<RouteContext, "request" | "scope">, entity: AnyEntity): Where {
  const { readable, filterable } = scope.mask(entity);
  const hasTags = entity.versioned !== undefined && readable.has("version") && filterable.has("version");
  return allOf(
    matching(readTags(request, "if-match"), hasTags),
    request.method === "GET" || request.method === "HEAD"
      ? undefined
      : differing(readTags(request, "if-none-match"), hasTags),
  );
}

function matching(tags: ReturnType<typeof readTags>, hasTags: boolean): Where {
  if (tags === undefined || tags === "any") return ANY_RECORD;
  // A weak tag says that something like it was there, not that it still is (RFC 9110, section 8.8.3.2).
  return hasTags ? { version: { in: versionsOf(tags.filter(({ weak }) => !weak)) } } : NO_RECORD;
}

function differing(tags: ReturnType<typeof readTags>, hasTags: boolean): Where | undefined {
  if (tags === undefined) return undefined;
  if (tags === "any") return NO_RECORD;
  return hasTags ? { version: { nin: versionsOf(tags) } } : undefined;
}

function versionsOf(tags: readonly Tag[]): readonly number[] {
  return tags.map(({ opaque }) => versionOf(opaque)).filter((version) => version !== undefined);
}
