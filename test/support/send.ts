import { type ClientRequest, request } from "node:http";

/** A server's response. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** One HTTP request, like `fetch` with `redirect: "manual"` but in a third of the time: tests send many thousands. */
export async function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | null,
): Promise<Answered> {
  return await new Promise<Answered>((resolve, reject) => {
    const sent: ClientRequest = request(new URL(url), { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("error", reject);
      response.on("end", () => {
        const received = new Headers();
        for (let at = 0; at < response.rawHeaders.length; at += 2)
          received.append(response.rawHeaders[at] as string, response.rawHeaders[at + 1] as string);
        resolve({ status: response.statusCode as number, headers: received, text });
      });
    });
    sent.on("error", reject);
    // Like `fetch`, always with Content-Length.
    if (body !== null) sent.setHeader("content-length", Buffer.byteLength(body));
    else if (method === "POST" || method === "PUT" || method === "PATCH") sent.setHeader("content-length", 0);
    sent.end(body ?? undefined);
  });
}
