/** Joins values for `field_in` and `field_nin`: by commas, with commas and backslashes inside a value escaped. */
export function joinList(values: readonly string[]): string {
  // No text at all is the empty list, so the list of one empty text says it twice, which means the same.
  if (values.length === 1 && values[0] === "") return ",";
  return values.map((value) => value.replace(/[\\,]/g, "\\$&")).join(",");
}

/** Splits what `joinList` made. A backslash before anything but a comma or a backslash stands for itself. */
export function splitList(text: string): string[] {
  if (text === "") return [];
  if (!text.includes("\\")) return text.split(",");
  const values: string[] = [];
  let value = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text[i] as string;
    const next = text[i + 1];
    if (unit === "\\" && (next === "\\" || next === ",")) {
      value += next;
      i++;
    } else if (unit === ",") {
      values.push(value);
      value = "";
    } else value += unit;
  }
  values.push(value);
  return values;
}
