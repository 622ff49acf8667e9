import { describe, expect, it, onTestFinished } from "vitest";
import { memoryDriver } from "../../src/index.ts";
import { ATTACKS } from "../support/attacks/all-attacks.ts";
import { attackApp } from "../support/attacks/attack-app.ts";
import { startAttackedApp } from "../support/attacks/attacked-app.ts";
import { DEFINITION_HOLES } from "../support/attacks/holes/definitions.ts";
import { HOST_HOLES } from "../support/attacks/holes/hosts.ts";
import { PLUGIN_HOLES } from "../support/attacks/holes/plugins.ts";

// The attacks of attacks.test.ts, on apps with one deliberate defect each. This proves that the attacks can find something.

const HOLES = [...DEFINITION_HOLES, ...PLUGIN_HOLES, ...HOST_HOLES];

describe("a deliberate hole", () => {
  it("exists for every class of attacks", () => {
    const found = new Set(HOLES.map(({ attack }) => attack.name));
    expect(ATTACKS.map(({ name }) => name).filter((name) => !found.has(name))).toEqual([]);
  });

  it.each(HOLES.map((hole) => [hole.what, hole] as const))("is found: %s", async (_what, { attack, says, ...hole }) => {
    const driver = memoryDriver();
    const app = await startAttackedApp({ driver, rows: (entity) => driver.findMany(entity) }, hole);
    onTestFinished(app.close);
    const { findings } = await attackApp(app, attack, says);
    expect(
      findings.filter((finding) => says.test(finding)),
      findings.slice(0, 5).join("\n"),
    ).toHaveLength(1);
  });
});
