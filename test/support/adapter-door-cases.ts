import { type AdapterCase, ada } from "./adapter-case.ts";
import { requestBytes } from "./http.ts";

const at =
  (method: string, path: string, ...headers: string[]): AdapterCase["bytes"] =>
  ({ endpoints }) =>
    requestBytes(method, `${endpoints}/answers${path}`, headers);

const postTo =
  (path: string, body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] =>
  ({ endpoints }) =>
    Buffer.concat([
      Buffer.from(
        requestBytes("POST", `${endpoints}/answers${path}`, [...headers, `Content-Length: ${Buffer.byteLength(body)}`]),
      ),
      Buffer.from(body),
    ]);

const formType = "Content-Type: multipart/form-data; boundary=edge";
const formOf = (...parts: readonly string[]): string =>
  `${parts.map((part) => `--edge\r\nContent-Disposition: form-data; ${part}\r\n`).join("")}--edge--\r\n`;
const text = 'name="title"\r\n\r\nDüne';
const file = 'name="cover"; filename="a b.txt"\r\nContent-Type: text/plain\r\n\r\nbytes';
const octets = "Content-Type: application/octet-stream";

/** Endpoint options beyond JSON and fixed paths. */
export const DOOR_CASES: readonly AdapterCase[] = [
  { title: "all that follows in a path", bytes: at("GET", "/below/a/b%20c/d.txt"), status: 200 },
  { title: "a hidden slash in what follows", bytes: at("GET", "/below/a/b%2Fc"), status: 400, code: "BAD_REQUEST" },
  { title: "dots in what follows", bytes: at("GET", "/below/a/%2e%2e/c"), status: 400, code: "BAD_REQUEST" },
  { title: "a verb behind an id", bytes: at("POST", "/a%20b:archive"), status: 200 },
  { title: "a verb behind an id that has a colon", bytes: at("POST", "/a:b:archive"), status: 200 },
  { title: "a verb behind a name", bytes: at("POST", ":gather"), status: 200 },
  {
    title: "bytes of any type",
    bytes: postTo("/raw", Buffer.from([0, 255, 128]), octets),
    status: 200,
    lostBy: ["text"],
  },
  { title: "no bytes", bytes: at("POST", "/raw", "Content-Length: 0"), status: 200 },
  { title: "100 bytes of 100", bytes: postTo("/raw", "x".repeat(100), octets), status: 200 },
  {
    title: "101 bytes of 100",
    bytes: postTo("/raw", "x".repeat(101), octets),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  },
  {
    title: "101 bytes of 100 in chunks",
    bytes: ({ endpoints }) =>
      requestBytes(
        "POST",
        `${endpoints}/answers/raw`,
        [octets, "Transfer-Encoding: chunked"],
        `65\r\n${"x".repeat(101)}\r\n0\r\n\r\n`,
      ),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  },
  { title: "a form with a file", bytes: postTo("/form", formOf(text, file), ada, formType), status: 200 },
  { title: "a form by nobody", bytes: postTo("/form", formOf(text), formType), status: 401, code: "UNAUTHENTICATED" },
  {
    title: "a form of three parts where two are allowed",
    bytes: postTo("/form", formOf(text, file, text), ada, formType),
    status: 400,
    code: "BAD_REQUEST",
  },
  {
    title: "a form of too many bytes",
    bytes: postTo("/form", formOf(`name="a"\r\n\r\n${"x".repeat(1_000)}`), ada, formType),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  },
  { title: "half a form", bytes: postTo("/form", formOf(text).slice(0, -12), ada, formType), status: 400 },
  {
    title: "JSON in place of a form",
    bytes: postTo("/form", "{}", ada, "Content-Type: text/json"),
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    title: "a form of the wrong kind",
    bytes: postTo("/form", "a=1", ada, "Content-Type: application/x-www-form-urlencoded"),
    status: 415,
  },
  {
    title: "an error in a form of its own",
    bytes: at("GET", "/fault", ada),
    status: 400,
    headers: { "content-type": "text/x-fault" },
  },
  {
    title: "a refusal in that form, whatever is accepted",
    bytes: at("GET", "/fault", "Accept: application/problem+json"),
    status: 401,
    headers: { "content-type": "text/x-fault" },
  },
  { title: "HEAD of a stream without an end", bytes: at("HEAD", "/ticks"), status: 200 },
];
