import { gunzipSync } from "node:zlib";
import { ConfigurationError } from "keelson";
import { type OpenApiOptions, openapi, openapiDocument } from "keelson/openapi";
import { describe, expect, it, onTestFinished } from "vitest";
import { SUFFIXES } from "../../../src/entity/index.ts";
import { withMiddleware } from "../../../src/gate/index.ts";
import { memoryDriver, UnavailableError } from "../../../src/index.ts";
import { createDocumentedApp, USERS } from "./documented-app.ts";

function appWith(options: OpenApiOptions = {}, production = false) {
  const api = createDocumentedApp({
    production,
    plugins: (defaults) => defaults.replace("openapi", openapi(options)),
  });
  onTestFinished(() => api.close());
  return async (path: string, headers: Record<string, string> = {}) => {
    const response = await api.fetch(new Request(`http://shop.example${path}`, { headers }));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

describe("the served document", () => {
  it.each([
    ["outside production", false, {}, 200, 200],
    ["in production", true, {}, 404, 404],
    ["in production, asked for", true, { served: true }, 200, 404],
    ["in production, with its page", true, { docs: true }, 200, 200],
    ["outside production, without its page", false, { docs: false }, 200, 404],
    ["outside production, turned off", false, { served: false }, 404, 404],
  ] as const)("%s", async (_title, production, options, document, page) => {
    const get = appWith(options, production);
    expect((await get("/openapi.json")).status).toBe(document);
    for (const path of ["/docs", "/docs/start.js", "/docs/swagger-ui.css"]) expect((await get(path)).status).toBe(page);
  });

  it("may have another path and other readers", async () => {
    const get = appWith({ path: "/internal/api.json", docs: { path: "/internal/docs" }, rules: ["admin"] });
    expect((await get("/openapi.json")).status).toBe(404);
    for (const path of ["/internal/api.json", "/internal/docs", "/internal/docs/start.js"]) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, { authorization: "Bearer ann" })).status).toBe(403);
      expect((await get(path, { authorization: "Bearer boss" })).status).toBe(200);
    }
  });

  it("cannot have a page without a document", () => {
    expect(() => appWith({ served: false, docs: true })).toThrow(ConfigurationError);
    expect(() => appWith({ served: false, docs: true })).toThrow("the page needs the document");
  });

  it("shows each caller their own routes, and public routes with as=public", async () => {
    const get = appWith();
    const paths = async (url: string, who?: string) => {
      const { text } = await get(url, who === undefined ? {} : { authorization: `Bearer ${who}` });
      return Object.keys(JSON.parse(text).paths);
    };
    const nobody = await paths("/openapi.json");
    expect(await paths("/openapi.json", "boss")).toContain("/api/posts/secretly");
    expect(nobody).not.toContain("/api/posts/secretly");
    expect(await paths("/openapi.json?as=public", "boss")).toEqual(nobody);
    expect(await paths("/openapi.json?_=1", "ann")).not.toContain("/api/posts/secretly");
  });

  it.each(["as=boss", "as=public&as=public", "as", "for=ann"])("refuses ?%s", async (query) => {
    const { status, text } = await appWith()(`/openapi.json?${query}`);
    expect([status, JSON.parse(text).code]).toEqual([400, "BAD_REQUEST"]);
  });

  it("has server URLs below the path where the app is mounted", async () => {
    const api = createDocumentedApp();
    onTestFinished(() => api.close());
    const { body } = await api.handle({
      method: "GET",
      url: "/openapi.json",
      base: "/shop",
      headers: {},
      body: undefined,
    });
    const paths = Object.keys(JSON.parse(String(body)).paths);
    expect(paths).toEqual(expect.arrayContaining(["/shop/posts", "/shop/posts/{id}", "/shop/openapi.json"]));
    expect(paths.filter((path) => !path.startsWith("/shop/"))).toEqual([]);
  });
});

describe("openapiDocument", () => {
  it("needs no database and no started app", async () => {
    const down = async (): Promise<void> => {
      throw new UnavailableError("down");
    };
    const api = createDocumentedApp({
      driver: withMiddleware(memoryDriver(), (statement, next) => next(statement), { connect: down }),
      production: true,
    });
    await expect(api.ready).rejects.toThrow("down");
    const document = await openapiDocument(api, { as: USERS.ann });
    expect(document.paths).toHaveProperty(["/api/posts", "post"]);
    expect(document.paths).not.toHaveProperty(["/openapi.json"]);
    await api.close();
    await expect(openapiDocument(api)).rejects.toThrow("The app is closed");
  });

  it("needs the plugin", async () => {
    const api = createDocumentedApp({ plugins: (defaults) => defaults.without("openapi") });
    onTestFinished(() => api.close());
    await expect(openapiDocument(api)).rejects.toThrow('no plugin "openapi"');
  });
});

describe("the page", () => {
  it("loads nothing from other hosts, and its policy forbids injected code", async () => {
    const { headers, text } = await appWith()("/docs");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = headers.get("content-security-policy");
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(text).not.toMatch(/https?:\/\/|<script>|<style|style=|\son\w+=/);
    const loaded = [...text.matchAll(/(?:src|href|data-document)="([^"]+)"/g)].map(([, address]) => address as string);
    expect(loaded).toEqual([
      "data:,",
      "docs/swagger-ui.css",
      "docs/page.css",
      "openapi.json",
      "docs/swagger-ui-bundle.js",
      "docs/start.js",
    ]);
  });

  it.each(["/docs", "/a/b/docs"])("finds its files and the document from %s", async (path) => {
    const get = appWith({ docs: { path }, path: "/spec/openapi.json" });
    const { text } = await get(path);
    const addresses = [...text.matchAll(/(?:src|href|data-document)="([^"]+)"/g)].map(
      ([, address]) => address as string,
    );
    const paths = addresses.filter((address) => !address.startsWith("data:"));
    for (const address of paths) {
      const { pathname } = new URL(address, `http://shop.example${path}`);
      expect([pathname, (await get(pathname)).status]).toEqual([pathname, 200]);
    }
  });

  it("escapes the title", async () => {
    const { text } = await appWith({ info: { title: '<script>"&' } })("/docs");
    expect(text).toContain("<title>&lt;script&gt;&quot;&amp;</title>");
  });

  it.each(["LICENSE", "swagger-ui.js", "package.json", "..%2Fpackage.json", "%2e%2e"])(
    "has no file %s",
    async (file) => {
      expect([400, 404]).toContain((await appWith()(`/docs/${file}`)).status);
    },
  );

  it("sends its large files once", async () => {
    const get = appWith();
    for (const [path, type] of [
      ["/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
      ["/docs/swagger-ui.css", "text/css; charset=utf-8"],
    ] as const) {
      const first = await get(path);
      expect([first.status, first.headers.get("content-type")]).toEqual([200, type]);
      expect(first.text.length).toBeGreaterThan(100_000);
      expect(first.headers.get("cache-control")).toBe("private, max-age=3600");
      const again = await get(path, { "if-none-match": String(first.headers.get("etag")) });
      expect([again.status, again.text]).toEqual([304, ""]);
      expect(first.headers.get("vary")).toContain("Accept-Encoding");
    }
  });

  it("sends its large files compressed to clients that accept it", async () => {
    const get = async (accepted: string) => {
      const api = createDocumentedApp({ plugins: (defaults) => defaults.replace("openapi", openapi()) });
      onTestFinished(() => api.close());
      const headers = { "accept-encoding": accepted };
      return await api.fetch(new Request("http://shop.example/docs/swagger-ui.css", { headers }));
    };
    const plain = await (await get("gzip;q=0, identity")).text();
    const zipped = await get("br, gzip");
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    const bytes = new Uint8Array(await zipped.arrayBuffer());
    expect(bytes.byteLength).toBeLessThan(plain.length / 4);
    expect(gunzipSync(bytes).toString()).toBe(plain);
    expect(zipped.headers.get("etag")).not.toBe((await get("")).headers.get("etag"));
  });

  it("folds the parameters of operators", async () => {
    const { text } = await appWith()("/docs/start.js");
    expect(text).toContain(`const SUFFIX = /_(${SUFFIXES.join("|")})$/;`);
  });

  it("shows the document of the logged-in caller, without an external validator", async () => {
    const { text } = await appWith()("/docs/start.js");
    const requested: { url: string; headers: Record<string, string> }[] = [];
    const authorized: Record<string, unknown> = {};
    let options: Record<string, never> = {};
    const place = { dataset: { document: "openapi.json" } };
    const ui = {
      authSelectors: { authorized: () => ({ toJS: () => authorized }) },
      specSelectors: { securityDefinitions: () => ({ toJS: () => ({ bearer: { type: "http", scheme: "bearer" } }) }) },
      specActions: { download: (url: string) => void requested.push({ url, headers: {} }) },
      authActions: { authorize: (login: object) => void given.push(login) },
    };
    const given: object[] = [];
    const kept = new Map<string, string>();
    const SwaggerUIBundle = Object.assign(
      (given: never) => {
        options = given;
        return ui;
      },
      { presets: { apis: [] } },
    );
    const window: Record<string, unknown> = {};
    // The script runs in browsers; these are the globals that it uses.
    const globals = {
      SwaggerUIBundle,
      window,
      document: {
        getElementById: () => place,
        querySelectorAll: () => [],
        documentElement: { classList: { toggle() {} } },
      },
      matchMedia: () => ({ matches: true, addEventListener() {} }),
      MutationObserver: class {
        observe() {}
      },
      sessionStorage: {
        setItem: (key: string, value: string) => void kept.set(key, value),
        removeItem: (key: string) => void kept.delete(key),
        getItem: (key: string) => kept.get(key) ?? null,
      },
      location: { href: "http://shop.example/docs" },
    };
    new Function(...Object.keys(globals), text)(...Object.values(globals));
    expect(options).toMatchObject({ url: "http://shop.example/openapi.json", validatorUrl: null, domNode: place });

    const { requestInterceptor, plugins } = options as unknown as {
      requestInterceptor(request: object): { headers: Record<string, string> };
      plugins: (() => {
        statePlugins: { auth: { wrapActions: Record<string, (...given: unknown[]) => (payload: unknown) => unknown> } };
      })[];
    };
    const load = () => requestInterceptor({ loadSpec: true, headers: {} }).headers;
    expect(load()).toEqual({});
    authorized.bearer = { schema: { type: "http", scheme: "bearer" }, value: "t1" };
    expect(load()).toEqual({ Authorization: "Bearer t1" });
    expect(requestInterceptor({ headers: {} }).headers).toEqual({});
    delete authorized.bearer;
    authorized.basic = { schema: { type: "http", scheme: "Basic" }, value: { username: "a", password: "b" } };
    authorized.key = { schema: { type: "apiKey", in: "header", name: "X-Key" }, value: "k" };
    authorized.cookie = { schema: { type: "apiKey", in: "cookie", name: "session" }, value: "s" };
    expect(load()).toEqual({ Authorization: "Basic YTpi", "X-Key": "k" });

    const { wrapActions } = plugins[0]?.().statePlugins.auth ?? { wrapActions: {} };
    const system = { specActions: { download: (url: string) => void requested.push({ url, headers: load() }) } };
    for (const action of ["authorize", "logout"])
      expect(wrapActions[action]?.((payload: unknown) => payload, system)("payload")).toBe("payload");
    expect(requested.map(({ url }) => url)).toEqual([
      "http://shop.example/openapi.json",
      "http://shop.example/openapi.json",
    ]);
    expect([...kept.values()].map((text) => Object.keys(JSON.parse(text)))).toEqual([["key", "cookie"]]);

    const { responseInterceptor } = options as unknown as { responseInterceptor(response: object): object };
    const response = { ok: true, headers: {}, url: "http://shop.example/api/users/login", obj: { token: "t2" } };
    for (const changed of [{}, { ok: false }, { url: "http://shop.example/api/posts" }, { obj: {} }])
      responseInterceptor({ ...response, ...changed });
    const bearer = { name: "bearer", schema: { type: "http", scheme: "bearer" }, value: "t2" };
    expect([given, requested.length]).toEqual([[{ bearer }], 3]);
  });
});
