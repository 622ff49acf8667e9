/** The headers of every answer. */
export function baseHeaders(requestId: string): Record<string, string | readonly string[]> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    vary: "Authorization, Cookie, Origin",
  };
}
