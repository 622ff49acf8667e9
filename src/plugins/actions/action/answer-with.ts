import type { JsonSchema } from "../../../entity/index.ts";
import type { AnswerDescription } from "../../../gate/index.ts";

/** The description of one answer, whose body is an object with these members. */
export function answerWith(
  status: number,
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  headers?: AnswerDescription["headers"],
): Readonly<Record<string, AnswerDescription>> {
  const schema: JsonSchema = { type: "object", required: Object.keys(properties), properties };
  return Object.freeze({ [status]: { description, content: { "application/json": schema }, headers } });
}

/** Of actions that have nothing to say but that they succeeded. */
export const SUCCESS = answerWith(200, "It is done.", { success: { const: true } });
