import { z } from "zod";

/** Validation of the hand-written contenders: one schema for all of them, so that they differ in what is measured only. */
const listQuery = z.object({
  published: z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .optional(),
  authorId: z.string().max(64).optional(),
  views_lte: z.coerce.number().int().optional(),
  _sort: z
    .string()
    .regex(/^-?(?:id|title|views|createdAt)$/)
    .optional(),
  _start: z.coerce.number().int().min(0).default(0),
  _end: z.coerce.number().int().min(1).default(20),
  _total: z.literal("none").optional(),
  include: z.literal("author").optional(),
});

const invoiceQuery = z.object({
  _sort: z
    .string()
    .regex(/^-?(?:id|number|amount)$/)
    .optional(),
  _start: z.coerce.number().int().min(0).default(0),
  _end: z.coerce.number().int().min(1).default(20),
  _total: z.literal("none"),
  include: z.literal("customer").optional(),
});

const createBody = z.object({
  title: z.string().trim().min(1).max(255),
  body: z.string().min(1).max(10_000),
  published: z.boolean().optional(),
  views: z.number().int().min(0).optional(),
});

const updateBody = createBody.partial();

const bulkBody = z.object({ ids: z.array(z.string().min(1).max(128)).max(1_000), data: updateBody });

/** A list request after validation. */
export type ListInput = {
  readonly where: { published?: boolean; authorId?: string; views?: { lte: number } };
  readonly sort?: Sort;
  readonly skip: number;
  readonly take: number;
  readonly total: boolean;
  readonly includeAuthor: boolean;
};

/** The order of a list. */
export type Sort = { readonly field: string; readonly direction: "asc" | "desc" };

/** A request for invoices after validation. */
export type InvoiceInput = {
  readonly sort?: Sort;
  readonly skip: number;
  readonly take: number;
  readonly includeCustomer: boolean;
};

/** A create request after validation. */
export type CreateInput = { title: string; body: string; published?: boolean; views?: number };

/** An update request after validation. */
export type UpdateInput = Partial<CreateInput>;

/** A bulk update after validation. */
export type BulkInput = { ids: string[]; data: UpdateInput };

const largestPage = 100;

/** The list request in a parsed query string, or `undefined` if it is not valid. */
export function parseList(query: unknown): ListInput | undefined {
  const parsed = listQuery.safeParse(query);
  if (!parsed.success || parsed.data._end <= parsed.data._start) return undefined;
  const { published, authorId, views_lte, _sort, _start, _end, _total, include } = parsed.data;
  return {
    where: {
      ...(published !== undefined && { published }),
      ...(authorId !== undefined && { authorId }),
      ...(views_lte !== undefined && { views: { lte: views_lte } }),
    },
    ...(_sort !== undefined && { sort: parseSort(_sort) }),
    skip: _start,
    take: Math.min(_end - _start, largestPage),
    total: _total !== "none",
    includeAuthor: include !== undefined,
  };
}

function parseSort(text: string): Sort {
  return text.startsWith("-") ? { field: text.slice(1), direction: "desc" } : { field: text, direction: "asc" };
}

/** The request for invoices in a parsed query string, or `undefined` if it is not valid. */
export function parseInvoices(query: unknown): InvoiceInput | undefined {
  const parsed = invoiceQuery.safeParse(query);
  if (!parsed.success || parsed.data._end <= parsed.data._start) return undefined;
  const { _sort, _start, _end, include } = parsed.data;
  return {
    ...(_sort !== undefined && { sort: parseSort(_sort) }),
    skip: _start,
    take: Math.min(_end - _start, largestPage),
    includeCustomer: include !== undefined,
  };
}

/** The body of a create request, or `undefined` if it is not valid. */
export function parseCreate(body: unknown): CreateInput | undefined {
  return createBody.safeParse(body).data as CreateInput | undefined;
}

/** The body of an update request, or `undefined` if it is not valid. */
export function parseUpdate(body: unknown): UpdateInput | undefined {
  return updateBody.safeParse(body).data as UpdateInput | undefined;
}

/** The body of a bulk update, or `undefined` if it is not valid. */
export function parseBulk(body: unknown): BulkInput | undefined {
  return bulkBody.safeParse(body).data as BulkInput | undefined;
}
