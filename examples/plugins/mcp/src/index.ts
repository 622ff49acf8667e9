// `POST /mcp`: the entities of the app as tools of the Model Context Protocol, for agents that send a user's token. A
// tool calls the caller's client, so an agent has exactly the rights of its user.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { type AnyEntity, createPluginFactory, endpoint, type PluginContext } from "keelson/plugin";

/** Options of {@link mcp}. */
export interface McpOptions {
  /** Whether to offer tools that change records. @default false */
  readonly writes: boolean;
  /** Maximum records of a list. @default 20 */
  readonly limit: number;
}

type Clients = ReturnType<PluginContext["clientFor"]>;
type Client = NonNullable<Clients[string]>;
interface Arguments {
  readonly id?: string;
  readonly where?: never;
  readonly limit?: number;
  readonly data?: never;
}

/** A tool, and its call of the client of its entity. */
interface EntityTool {
  readonly tool: Tool;
  readonly entity: string;
  call(client: Client, given: Arguments): Promise<unknown>;
}

export const mcp = createPluginFactory<McpOptions>(({ writes = false, limit = 20 }) => ({
  id: "example/mcp",
  setup({ entities, clientFor }) {
    const shown = entities.entities.filter(({ internal }) => !internal);
    const tools = new Map(
      shown.flatMap((entity) => toolsOf(entity, writes, limit)).map((one) => [one.tool.name, one] as const),
    );
    return { tools, clientFor };
  },
  endpoints: {
    mcp: endpoint<{ readonly tools: ReadonlyMap<string, EntityTool>; readonly clientFor: PluginContext["clientFor"] }>(
      "/mcp",
      {
        method: "POST",
        rules: ["authenticated"],
        async handler({ scope, body }, { tools, clientFor }) {
          const server = serverOf(tools, clientFor(scope));
          // Without sessions, any process of the app can handle each request; as JSON, the response is complete at once.
          const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
          await server.connect(transport);
          const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
          const request = new Request("http://mcp.invalid/mcp", { method: "POST", headers });
          const response = await transport.handleRequest(request, { parsedBody: await body() });
          await server.close();
          return response;
        },
      },
    ),
  },
}));

/** Shared: each server would make one of its own, which took a third of the CPU of a request. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

function serverOf(tools: ReadonlyMap<string, EntityTool>, clients: Clients): Server {
  const options = { capabilities: { tools: {} }, jsonSchemaValidator };
  const server = new Server({ name: "keelson", version: "0.1.0" }, options);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    const found = tools.get(name);
    const client = found && clients[found.entity];
    if (found === undefined || client === undefined) return failure(`There is no tool "${name}"`);
    try {
      return { content: [{ type: "text", text: JSON.stringify((await found.call(client, given)) ?? null) }] };
    } catch (error) {
      const { status = 500, message } = error as { readonly status?: number; readonly message: string };
      return failure(status < 500 ? message : "The tool failed"); // details are for the log
    }
  });
  return server;
}

const failure = (text: string) => ({ content: [{ type: "text" as const, text }], isError: true });
const object = (properties: Tool["inputSchema"]["properties"], ...required: string[]): Tool["inputSchema"] => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

function toolsOf({ name, columns, hidden }: AnyEntity, writes: boolean, most: number): readonly EntityTool[] {
  const fields = Object.keys(columns).filter((column) => !hidden.includes(column));
  const id = { type: "string", description: `The id of a ${name}` };
  const data = { type: "object", description: `Values by field: ${fields.join(", ")}` };
  const where = { type: "object", description: `Conditions on ${fields.join(", ")}, such as { "field": { "gt": 1 } }` };
  const tool = (verb: string, description: string, inputSchema: Tool["inputSchema"], call: EntityTool["call"]) => ({
    entity: name,
    tool: { name: `${verb}_${name}`, description, inputSchema },
    call,
  });
  const reading = [
    tool(
      "list",
      `Lists ${name} records, ${most} at most`,
      object({ where, limit: { type: "integer" } }),
      (client, given) =>
        client
          .list({ where: given.where as never, limit: Math.min(given.limit ?? most, most), total: false })
          .then((page) => page.data),
    ),
    tool("get", `Reads one ${name}`, object({ id }, "id"), (client, given) => client.get(String(given.id))),
    tool("count", `Counts ${name} records`, object({ where }), (client, given) => client.count(given.where)),
  ];
  const writing = [
    tool("create", `Creates a ${name}`, object({ data }, "data"), (client, given) =>
      client.create(given.data as never),
    ),
    tool("update", `Changes a ${name}`, object({ id, data }, "id", "data"), (client, given) =>
      client.update(String(given.id), given.data as never),
    ),
    tool("delete", `Deletes a ${name}`, object({ id }, "id"), (client, given) => client.delete(String(given.id))),
  ];
  return writes ? [...reading, ...writing] : reading;
}
