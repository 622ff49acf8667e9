// The process that is soaked, compiled: bench/soak/server.ts for tests.
import { serveSoak } from "../../../bench/soak/serve-soak.ts";

await serveSoak();
