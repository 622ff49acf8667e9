import { expect } from "vitest";

/** A `curl` line of a page, and the answer that the comment below it promises: `# 201 {"id":"…"}`. */
export interface CurlExample {
  readonly command: string;
  readonly status: number;
  /** `…` stands for anything. */
  readonly answer: string;
}

/** The examples of a page's sh blocks, in their order. */
export function curlExamples(text: string): CurlExample[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string);
  const found = blocks.flatMap((block) => [...block.matchAll(/^(curl [\s\S]*?)\n# (\d{3}) ?(.*)$/gm)]);
  return found.map(([, command = "", status, answer = ""]) => ({ command, status: Number(status), answer }));
}

/**
 * Sends what a page's curl command would and holds the answer to what the page promises.
 * @param host in place of localhost:3000
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

/** What a shell and curl would do: the parts that pages use, and no others. */
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
