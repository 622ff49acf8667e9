import * as z from "zod";
import type { Parsed } from "./kind.ts";

/** The schema of values that a function reads. Its JSON Schema is said with `.meta()`. */
export function readSchema<T>(read: (value: unknown) => Parsed<T>): z.ZodType<T> {
  return z.unknown().transform((input, ctx): T => {
    const found = read(input);
    if (found.ok) return found.value;
    ctx.issues.push({ code: "custom", message: found.message, input });
    return z.NEVER;
  });
}
