/** Joins values for `field_in` and `field_nin`: by commas, with commas and backslashes inside a value escaped. */
export function joinList(values: readonly string[]): string {
  // No text at all is the empty list, so the list of one empty text says it twice, which means the same.
  if (values.length === 1 && values[0] === "") return ",";
  return values.map((value) => value.replace(/[\\,]/g, "\\$&")).join(",");
}
