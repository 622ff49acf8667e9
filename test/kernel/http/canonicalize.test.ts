import { describe, expect, it } from "vitest";
import { BadRequestError, canonicalize, matchRoute } from "../../../src/kernel/index.ts";

describe("canonicalize", () => {
  it.each([
    ["/api/posts", "/api/posts", ""],
    ["/api/posts?a=1&b=%20", "/api/posts", "a=1&b=%20"],
    ["/api/posts/", "/api/posts", ""],
    ["/", "/", ""],
    ["", "/", ""],
    ["?a=1", "/", "a=1"],
    ["/api/posts/%C3%A9", "/api/posts/%C3%A9", ""],
    ["/api/posts/a.b", "/api/posts/a.b", ""],
    ["/api/posts?x=a?b", "/api/posts", "x=a?b"],
    ["/api/posts#frag", "/api/posts", ""],
  ])("reads %j as path %j and query %j", (url, path, search) => {
    expect(canonicalize(url, 8_192)).toEqual({ path, search });
  });

  it.each([
    "/api//posts",
    "//api",
    "/api/./posts",
    "/api/../users",
    "/api/%2e%2e/users",
    "/api/%2E/x",
    "/a/%2F",
    "/a/%5c",
    "/a/\\b",
    "/a/%00",
    "/a/%0A",
    "/a/%7f",
    "/a/%E0%A4%A",
    "/a/%",
    "/a/%zz",
    "api/posts",
    "http://x/api",
    "/api/posts//",
  ])("refuses %j", (url) => {
    expect(() => canonicalize(url, 8_192)).toThrow(BadRequestError);
  });

  it("refuses a URL over the limit", () => {
    expect(() => canonicalize(`/api/posts?q=${"x".repeat(9_000)}`, 8_192)).toThrow("longer than 8192 bytes");
  });
});

describe("matchRoute", () => {
  it.each([
    ["/posts/1", "/posts/:id", { id: "1" }],
    ["/posts/1/", "/posts/:id", { id: "1" }],
    ["/posts/a%20b", "/posts/:id", { id: "a b" }],
    ["/posts/1/toggle-x", "/posts/:id/toggle-x", { id: "1" }],
    ["/posts", "/posts", {}],
  ])("matches %j with %j", (path, pattern, params) => {
    expect(matchRoute(path, pattern)).toEqual(params);
  });

  it.each([
    ["/posts", "/posts/:id"],
    ["/posts/1/2", "/posts/:id"],
    ["/Posts/1", "/posts/:id"],
    ["/posts/%E0%A4%A", "/posts/:id"],
    ["/posts/%2e%2e", "/posts/:id"],
    ["/posts/a%2Fb", "/posts/:id"],
    ["/posts//", "/posts/:id"],
  ])("does not match %j with %j", (path, pattern) => {
    expect(matchRoute(path, pattern)).toBeNull();
  });

  it.each([500_000, 1_000_000])("accepts a segment of %i characters, and refuses as many slashes", (length) => {
    const id = "a".repeat(length);
    expect(matchRoute(`/posts/${id}`, "/posts/:id")).toEqual({ id });
    expect(matchRoute("/".repeat(length), "/posts/:id")).toBeNull();
  });
});
