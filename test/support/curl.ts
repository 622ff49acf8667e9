import { expect } from "vitest";

/** A `curl` line of a page, and the response in the comment below it: `# 201 {"id":"…"}`. */
export interface CurlExample {
  readonly command: string;
  readonly status: number;
  /** `…` matches anything. */
  readonly answer: string;
}

/** The examples of a page's sh blocks, in order. */
export function curlExamples(text: string): CurlExample[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string);
  const found = blocks.flatMap((block) => [...block.matchAll(/^(curl [\s\S]*?)\n# (\d{3}) ?(.*)$/gm)]);
  return found.map(([, command = "", status, answer = ""]) => ({ command, status: Number(status), answer }));
}

/**
 * Sends the request of a page's curl command and compares the response with the page.
 * @param host replaces localhost:3000
 * @returns the body
 */
export async function expectCurl({ command, status, answer }: CurlExample, host: string): Promise<string> {
  const response = await sendCurl(command.replaceAll("localhost:3000", host));
  const body = await response.text();
  expect(`${response.status} ${body}`, command).toMatch(
    new RegExp(`^${`${status} ${answer}`.split("…").map(literally).join("[\\s\\S]*")}$`),
  );
  return body;
}

/** Parses the parts of shell and curl syntax that pages use. */
function sendCurl(command: string): Promise<Response> {
  const words = [...command.replaceAll("\\\n", " ").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? (bare as string),
  );
  const headers = new Headers();
  let method: string | undefined;
  let body: string | null = null;
  let address = "";
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as string;
    if (word === "-H") {
      const [name = "", ...value] = (words[++i] as string).split(": ");
      headers.append(name, value.join(": "));
    } else if (word === "-d") body = words[++i] ?? null;
    else if (word === "-X") method = words[++i];
    else if (word !== "-s") address = word;
  }
  return fetch(`http://${address.replace(/^http:\/\//, "")}`, {
    method: method ?? (body === null ? "GET" : "POST"),
    headers,
    body,
    redirect: "manual",
  });
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
