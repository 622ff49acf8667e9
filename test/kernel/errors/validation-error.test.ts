import { expect, it } from "vitest";
import { type FieldErrors, validationError } from "../../../src/index.ts";

it("a validation error accepts texts about the data as a whole", () => {
  const { errors, issues } = validationError(["x", "y"]);
  expect(errors).toEqual({ _: "x" });
  expect(issues).toEqual([
    { path: [], code: "custom", message: "x" },
    { path: [], code: "custom", message: "y" },
  ]);
  expect(validationError({ title: "is taken" }).errors).toEqual({ title: "is taken" });
});

it("a validation error with another argument says what it accepts", () => {
  for (const given of [[1], [null], [{ message: "no path" }]])
    expect(() => validationError(given as unknown as FieldErrors)).toThrow(
      /takes texts, issues .* or messages by field/,
    );
  expect(validationError(undefined as unknown as FieldErrors).errors).toEqual({});
});
