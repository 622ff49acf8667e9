/**
 * Splits the values of `field_in` and `field_nin` at commas; commas and backslashes inside a value come escaped. A backslash
 * before anything but a comma or a backslash stands for itself.
 */
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
