import { createHash } from "node:crypto";

/** A version, alone or before a digest; records that were there before may have begun with 0, or below. */
const VERSION = /^(0|-?[1-9]\d{0,9})(?:\.[\w-]+)?$/;

/**
 * What is between the quotation marks of an answer's tag: the record's version, and a digest of the very bytes. A strong
 * tag identifies bytes (RFC 9110, section 8.8.1), which also depend on related records, selected fields and the caller.
 */
export function tagOf(version: number, text: string): string {
  return `${version}.${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;
}

/** The version that a tag is about; undefined for tags that are none of ours. */
export function versionOf(opaque: string): number | undefined {
  const found = VERSION.exec(opaque);
  if (found === null) return undefined;
  const version = Number(found[1]);
  return (version | 0) === version ? version : undefined; // int32, as the column is
}
