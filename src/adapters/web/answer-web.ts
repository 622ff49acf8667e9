import { cancelBody, describeError, type KernelResponse, toWebResponse } from "../../kernel/index.ts";
import { type HandlingApp, refusal } from "../node/host.ts";
import type { WebRequest } from "./web-request.ts";

/** Has the app answer a request of a host that speaks Request and Response. Never rejects. */
export async function answerWeb(app: HandlingApp, request: WebRequest): Promise<Response> {
  const failed = (error: unknown) => app.log?.error("An answer could not be sent", describeError(error));
  let reply: KernelResponse | undefined;
  try {
    reply = await app.handle(request);
    await request.discardBody();
    return toWebResponse(reply, request, failed);
  } catch (error) {
    // An answer that cannot be written, such as one with a line break in a header.
    failed(error);
    if (reply !== undefined) void cancelBody(reply);
    return toWebResponse(refusal(error), request, failed);
  }
}
