import { ConfigurationError, entity, memoryDriver, string } from "keelson";
import { audit } from "keelson/audit";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";

const note = entity("note", { text: string });
const boot = () => createFakeKernel().withEntities(note).withDriver(memoryDriver()).as({ id: "ann" });

describe("audit alone", () => {
  it("adds an entity, a hook and a service", async () => {
    const kernel = await boot().use(audit());
    expect(kernel.model.get("auditEntry")).toBeDefined();
    expect(kernel.seen).toMatchObject({ services: ["audit.log"], routes: [], requires: [], problems: [] });
    expect(kernel.seen.hooks).toEqual(["access:mask"]);
    await kernel.close();
  });

  it("records who created a record", async () => {
    const kernel = await boot().use(audit());
    await kernel.operation({ kind: "create", entity: note, data: { id: "n1", text: "x" } });
    const { records } = await kernel.operation({ kind: "list", entity: "auditEntry" });
    expect(records).toMatchObject([{ entity: "note", recordId: "n1", actorId: "ann", operation: "create" }]);
    await kernel.close();
  });

  it("does not start for an entity that does not exist", async () => {
    const starting = boot().use(audit({ entities: ["nots"] }));
    await expect(starting).rejects.toThrow(ConfigurationError);
    await expect(starting).rejects.toThrow('Did you mean "note"?');
  });
});
