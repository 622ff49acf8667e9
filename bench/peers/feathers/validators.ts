import { Ajv } from "@feathersjs/schema";
import addFormats, { type FormatsPluginOptions } from "ajv-formats";

const formats: FormatsPluginOptions = ["date-time", "email", "uuid"];

// A CommonJS module: its function is the default of its default.
const withFormats = (ajv: Ajv): Ajv => addFormats.default(ajv, formats);

/** Validates bodies. */
export const dataValidator = withFormats(new Ajv({}));

/** Validates query strings, whose values are texts until then. */
export const queryValidator = withFormats(new Ajv({ coerceTypes: true }));
