import { BadRequestError, type KernelRequest } from "../../kernel/index.ts";

/** The value of an `If-Match` or an `If-None-Match`: any record, or one with one of these tags. */
export type Tags = "any" | readonly Tag[];

/** An entity tag; `opaque` is what is between its quotation marks. */
export interface Tag {
  readonly opaque: string;
  readonly weak: boolean;
}

/** More than any client has copies of one record. */
const MOST_TAGS = 100;
/** One element of a list, which may be empty, and the comma after it. Sticky: one after the other, and linear. */
const ELEMENT = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/**
 * The tags of a header (RFC 9110, sections 13.1.1 and 13.1.2); undefined without it.
 * @throws BadRequestError
 */
export function readTags({ headers }: KernelRequest, name: "if-match" | "if-none-match"): Tags | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  const text = (typeof value === "string" ? value : value.join(", ")).trim();
  if (text === "*") return "any";
  const tags = tagsOf(text);
  if (tags === undefined || tags.length === 0 || tags.length > MOST_TAGS)
    throw new BadRequestError(`${name} takes * or a list of at most ${MOST_TAGS} entity tags, such as "3"`);
  return tags;
}

function tagsOf(text: string): readonly Tag[] | undefined {
  const tags: Tag[] = [];
  for (let at = 0; at < text.length; ) {
    ELEMENT.lastIndex = at;
    const element = ELEMENT.exec(text);
    if (element === null) return undefined;
    const [whole, weak, opaque] = element;
    if (opaque !== undefined) tags.push({ opaque, weak: weak !== undefined });
    at += whole.length;
  }
  return tags;
}
