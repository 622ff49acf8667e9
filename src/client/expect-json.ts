import type { Answer } from "./read-answer.ts";
import { unexpectedAnswer } from "./unexpected-answer.ts";

/** @throws KeelsonClientError for another body: a page of the site, when the address is not the API's */
export function expectJson(answer: Answer): unknown {
  if (!answer.isJson)
    throw unexpectedAnswer(answer, `${answer.of} was not answered with JSON; is baseUrl the address of the API?`);
  return answer.body;
}
