import { describe, expect, it } from "vitest";
import * as language from "../../../src/entity/index.ts";
import * as kernel from "../../../src/kernel/index.ts";

const keelson = { ...language, ...kernel };

const {
  conflictError,
  forbiddenError,
  handleError,
  internalError,
  isKeelsonError,
  notFoundError,
  unauthorizedError,
  validationError,
} = keelson;

describe("error classes", () => {
  it.each([
    [new keelson.EntityNotFoundError(), 404, "NOT_FOUND"],
    [new keelson.ValidationFailedError({ title: "is required" }), 400, "VALIDATION_FAILED"],
    [new keelson.BadRequestError("no"), 400, "BAD_REQUEST"],
    [new keelson.AuthenticationError(), 401, "UNAUTHENTICATED"],
    [new keelson.AuthorizationError(), 403, "FORBIDDEN"],
    [new keelson.ConflictError(), 409, "CONFLICT"],
    [new keelson.ReferencedError(), 409, "REFERENCED"],
    [new keelson.PreconditionFailedError(), 412, "PRECONDITION_FAILED"],
    [new keelson.PayloadTooLargeError(10), 413, "PAYLOAD_TOO_LARGE"],
    [new keelson.UnsupportedMediaTypeError(), 415, "UNSUPPORTED_MEDIA_TYPE"],
    [new keelson.RateLimitedError(3), 429, "RATE_LIMITED"],
    [new keelson.PluginError("x"), 500, "PLUGIN_ERROR"],
    [new keelson.ConfigurationError("x"), 500, "CONFIGURATION_ERROR"],
    [new keelson.DatabaseError(), 500, "DATABASE_ERROR"],
    [new keelson.DatabaseUnavailableError(), 503, "DATABASE_UNAVAILABLE"],
    [new keelson.DecryptionError(), 500, "DECRYPTION_FAILED"],
    [new keelson.UnavailableError("x"), 503, "UNAVAILABLE"],
    [new keelson.InternalError(), 500, "INTERNAL"],
  ])("%s has its status and code", (error, status, code) => {
    expect(error).toBeInstanceOf(keelson.KeelsonError);
    expect(isKeelsonError(error)).toBe(true);
    expect([error.status, error.code]).toEqual([status, code]);
    expect(error.toJSON()).toMatchObject({ status, code, message: error.message });
  });

  it("recognise a 503 of the database as a database error", () => {
    expect(new keelson.DatabaseUnavailableError()).toBeInstanceOf(keelson.DatabaseError);
    expect(new keelson.DatabaseUnavailableError().headers).toEqual({ "retry-after": "2" });
  });

  it("contain a workflow's failed step, compensated steps and run", () => {
    const failure = { failedStep: "charge", compensatedSteps: ["reserve"], runId: "r1" };
    const error = new keelson.WorkflowFailedError(failure);
    expect(handleError(error).body).toEqual({
      code: "WORKFLOW_FAILED",
      message: "The workflow failed",
      status: 500,
      ...failure,
    });
  });

  it("are created by builders that can be thrown", () => {
    expect(notFoundError("No post").message).toBe("No post");
    expect(unauthorizedError().status).toBe(401);
    expect(forbiddenError().status).toBe(403);
    expect(internalError().status).toBe(500);
    expect(conflictError("taken", { fields: ["email"] }).toJSON()).toMatchObject({
      errors: { email: "is already taken" },
    });
    expect(validationError({ title: "is required" }).toJSON()).toMatchObject({
      errors: { title: "is required" },
      issues: [{ path: ["title"], code: "custom", message: "is required" }],
    });
  });

  it("keep the first message per field in `errors` and all in `issues`", () => {
    const issues = [
      { path: ["a"], code: "x", message: "one" },
      { path: ["a"], code: "y", message: "two" },
      { path: [], code: "z", message: "whole" },
    ];
    expect(new keelson.ValidationFailedError(issues).toJSON()).toMatchObject({
      errors: { a: "one", _: "whole" },
      issues,
    });
  });

  it("become web-standard responses", async () => {
    const response = new keelson.MethodNotAllowedError(["GET", "HEAD"]).toResponse();
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
    expect(await response.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
  });

  it("list all problems of a configuration", () => {
    const error = new keelson.ConfigurationError(["one is wrong", "two is wrong"]);
    expect(error.problems).toEqual(["one is wrong", "two is wrong"]);
    expect(error.message).toBe("2 problems in the configuration:\n  - one is wrong\n  - two is wrong");
  });
});

describe("handleError", () => {
  it("reveals nothing about an error that is not Keelson's", () => {
    const reply = handleError(new TypeError("password=hunter2"), { requestId: "r1" });
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({ code: "INTERNAL", message: "Something went wrong", status: 500, requestId: "r1" });
  });

  it("accepts thrown values that are not errors", () => {
    for (const thrown of ["boom", undefined, null, 5, { code: "X" }]) expect(handleError(thrown).status).toBe(500);
  });

  it("keeps the text of a configuration error for the log", () => {
    expect(handleError(new keelson.ConfigurationError("key missing in /etc/app")).body).toEqual({
      code: "CONFIGURATION_ERROR",
      message: "Something went wrong",
      status: 500,
    });
  });

  it("keeps for the log why a value cannot be decrypted", () => {
    const error = new keelson.DecryptionError("the key v1 does not open it", { reason: "unknown-key" });
    expect(error.reason).toBe("unknown-key");
    expect(new keelson.DecryptionError().reason).toBe("refused");
    expect(handleError(error, { problemJson: true, instance: "/api/notes" }).body).toMatchObject({
      code: "DECRYPTION_FAILED",
      message: "Something went wrong",
      detail: "Something went wrong",
      status: 500,
    });
  });

  it("recognises errors of another copy of the package by their brand", () => {
    class Foreign extends Error {
      readonly code = "NOT_FOUND";
      readonly status = 404;
      readonly headers = undefined;
      toJSON() {
        return { code: this.code, message: this.message, status: this.status };
      }
    }
    const foreign = new Foreign("gone");
    Object.defineProperty(foreign, Symbol.for("keelson.error"), { value: true });
    expect(handleError(foreign).status).toBe(404);
  });

  it("adds the members of RFC 9457 on request", () => {
    const { headers, body } = handleError(new keelson.EntityNotFoundError(), {
      problemJson: true,
      instance: "/api/x",
      requestId: "r",
    });
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(body).toMatchObject({
      type: "urn:keelson:error:NOT_FOUND",
      title: "NOT_FOUND",
      detail: "Not found",
      instance: "/api/x",
      code: "NOT_FOUND",
      status: 404,
      requestId: "r",
    });
  });
});

describe("describeError", () => {
  it("follows five causes at most, so that a circle of causes ends", () => {
    const error = new TypeError("secret");
    error.cause = error;
    const text = JSON.stringify(keelson.describeError(error));
    expect(text.match(/"error":"TypeError"/g)).toHaveLength(6);
    expect(text).not.toContain("secret");
  });

  it("does not treat a line of a message as a source location", () => {
    const quoting = new TypeError("this went wrong:\n    at secret (person.ts:1:1)\n    at secret again");
    const renamed = new TypeError("first\n    at secret");
    renamed.message = "second";
    for (const error of [quoting, renamed])
      expect(JSON.stringify(keelson.describeError(error))).not.toContain("secret");
    expect(keelson.describeError(quoting).stack).toEqual(
      expect.arrayContaining([expect.stringMatching(/^at .*errors\.test\.ts/)]),
    );
  });
});
