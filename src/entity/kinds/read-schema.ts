import * as z from "zod";
import type { Parsed } from "./kind.ts";

/** Makes a schema from a function that reads values. Describe its JSON Schema with `.meta()`. */
export function readSchema<T>(read: (value: unknown) => Parsed<T>): z.ZodType<T> {
  return z.unknown().transform((input, ctx): T => {
    const found = read(input);
    if (found.ok) return found.value;
    ctx.issues.push({ code: "custom", message: found.message, input });
    return z.NEVER;
  });
}
