// schema: keeps tables and definitions in step when the app starts, for drivers that can do it themselves
// (architecture.md 3.6). The port is DriverSchema; other drivers are left alone.
import { ConfigurationError } from "../../entity/index.ts";
import { createPlugin, type Plugin, type PluginContext } from "../../kernel/index.ts";

/** Pushes definitions to the database outside production; in production refuses to start when they differ. */
export function schema(): Plugin {
  return createPlugin({ id: "schema", version: "1.0.0", start });
}

async function start({ driver, config, log }: PluginContext): Promise<void> {
  const { schema: port } = driver;
  if (port === undefined || port.mode === "off") return;
  if (!config.production) {
    const { changed } = await port.push();
    if (changed) log.info("The tables were changed to fit the entities", { driver: driver.name });
    return;
  }
  const differences = await port.pending();
  if (differences.length > 0)
    throw new ConfigurationError(
      differences.map((difference) => `The database does not fit the entities: ${difference}`),
    );
}
