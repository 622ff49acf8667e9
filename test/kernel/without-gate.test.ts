import { expect, it } from "vitest";
import { createKernel, type KernelRouteContext, makePlugin, noopLogger } from "../../src/kernel/index.ts";

/** A plugin for the kernel alone, which records its calls. */
function greeter(told: string[]) {
  return makePlugin({
    id: "acme/greeter",
    services: { greeting: () => "Hello" },
    endpoints: {
      greet: {
        path: "/greet/:name",
        rules: ["everyone"],
        handler: ({ params, scope }: KernelRouteContext) =>
          `${scope.services.resolve("greeting")}, ${params.name} (${scope.principal.kind})`,
      },
      fail: {
        path: "/fail",
        rules: ["everyone"],
        handler: () => {
          throw new Error("secret");
        },
      },
    },
    hooks: { "route:authorize": (payload: { allowed: boolean }) => void (payload.allowed = true) },
    start: () => void told.push("started"),
    stop: () => void told.push("stopped"),
  });
}
const ask = async (kernel: ReturnType<typeof createKernel>, path: string) => {
  const response = await kernel.fetch(new Request(`http://kernel.invalid${path}`));
  return [response.status, await response.json()];
};

it("a kernel without the gate starts, serves endpoints and stops", async () => {
  const told: string[] = [];
  const kernel = createKernel({ plugins: [greeter(told)], logger: noopLogger, getUser: () => ({ id: "ann" }) });
  await kernel.ready;
  expect(await ask(kernel, "/greet/Bo")).toEqual([200, "Hello, Bo (user)"]);
  const [status, body] = await ask(kernel, "/fail");
  expect([status, body]).toMatchObject([500, { code: "INTERNAL" }]);
  expect(JSON.stringify(body)).not.toContain("secret");
  expect((await ask(kernel, "/api/things"))[0]).toBe(404);
  await kernel.close();
  expect(told).toEqual(["started", "stopped"]);
});

it("a kernel without the gate refuses what only the gate reads", () => {
  const withSchema = makePlugin({ id: "acme/records", wrapDriver: (driver: unknown) => driver });
  expect(() => createKernel({ plugins: [withSchema], logger: noopLogger })).toThrow('there is no option "wrapDriver"');
});

it("only the first plugin may be the base of an app", () => {
  const base = makePlugin({ id: "acme/base", base: () => ({}) as never });
  const plugins = [makePlugin({ id: "acme/first" }), base];
  expect(() => createKernel({ plugins, logger: noopLogger })).toThrow(
    'Plugin "acme/base" is the base of an app, and must be the first in the list',
  );
});
