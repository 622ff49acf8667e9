import { type ClientRequest, request } from "node:http";

/** What a server answered. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** One request over HTTP, as `fetch` sends it with `redirect: "manual"`, for a third of the work: tests send many thousands. */
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
    // With its length, as `fetch` says it, whatever the method.
    if (body !== null) sent.setHeader("content-length", Buffer.byteLength(body));
    else if (method === "POST" || method === "PUT" || method === "PATCH") sent.setHeader("content-length", 0);
    sent.end(body ?? undefined);
  });
}
