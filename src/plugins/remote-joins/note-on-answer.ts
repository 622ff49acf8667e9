import type { HttpExchange } from "../../kernel/index.ts";
import type { Failures } from "./failures.ts";

const HEADER = "x-remote-errors";

/**
 * Says in the header `X-Remote-Errors` why fields of an answer are null: `subscription;timeout, invoice;unavailable`. Names
 * of relations are identifiers, so they need no quoting (RFC 9110 section 5.6.2).
 */
export function noteOnAnswer(exchange: HttpExchange | undefined, failures: Failures): void {
  const shown = failures.shown();
  if (exchange === undefined || shown.length === 0) return;
  const known = exchange.headers[HEADER];
  const before = typeof known === "string" ? known.split(", ") : [];
  exchange.headers[HEADER] = [...new Set([...before, ...shown])].join(", ");
}
