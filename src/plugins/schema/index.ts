// schema: keeps tables in step with entities when the app starts, for drivers that support it (port DriverSchema).
// Other drivers are ignored.
import { ConfigurationError } from "../../entity/index.ts";
import { createPlugin, type DriverSchema, type Plugin } from "../../gate/index.ts";

// No hooks, no options, no services.

/**
 * Pushes entities to the database outside of production. In production, and for tables that existed before, it refuses to
 * start if the tables do not match the entities.
 */
export function schema(): Plugin {
  return createPlugin({
    id: "schema",
    version: "1.0.0",
    async start({ driver, config, entities, log }) {
      const { schema: port } = driver;
      if (port === undefined) return;
      if (port.mode === "auto" && !config.production) {
        const { changed } = await port.push();
        if (changed) log.info("The tables were changed to fit the entities", { driver: driver.name });
        // Existing tables are not pushed, and may have changed.
        const relations = entities.entities.flatMap((entity) => entities.relationsOf(entity));
        const isPushed = entities.entities.every(({ existing }) => !existing);
        if (isPushed && relations.every(({ through }) => through === undefined)) return;
      }
      const differences = await misfitsOf(port);
      if (differences.length > 0) throw misfit(differences, config.production);
    },
  });
}

/** An error with all differences. In production it explains how to change the tables, because the app never does. */
function misfit(differences: readonly string[], production: boolean): ConfigurationError {
  const last = differences.length - 1;
  const remedy = production ? ". Before the app starts, run: keelson migrate deploy" : "";
  return new ConfigurationError(
    differences.map((difference, index) => {
      const sentence = `The database does not fit the entities: ${difference}`;
      return index === last ? sentence + remedy : sentence;
    }),
  );
}

function misfitsOf(port: DriverSchema): Promise<readonly string[]> | readonly string[] {
  if (port.misfits !== undefined) return port.misfits();
  return port.mode === "auto" ? port.pending() : [];
}
