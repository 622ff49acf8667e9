import { expectTypeOf, it } from "vitest";
import { postgres, type RemoteService, validationError } from "../../src/index.ts";

it("a class with mutable lists implements RemoteService", () => {
  class People implements RemoteService {
    async fetchByIds(
      _name: string,
      ids: string[],
      options?: { include?: boolean | Record<string, unknown>; select?: string[] },
    ): Promise<{ id: string }[]> {
      return ids.map((id) => ({ id, fields: options?.select }));
    }
  }
  class Readonly implements RemoteService {
    fetchByIds(_name: string, ids: readonly string[], options?: { readonly select?: readonly string[] }) {
      return ids.map((id) => ({ id, fields: options?.select }));
    }
  }
  expectTypeOf<People>().toExtend<RemoteService>();
  expectTypeOf<Readonly>().toExtend<RemoteService>();
});

it("postgres() accepts an environment variable, and validationError texts", () => {
  expectTypeOf(postgres).toBeCallableWith(process.env.DATABASE_URL);
  expectTypeOf(validationError).toBeCallableWith(["too short"]);
});
