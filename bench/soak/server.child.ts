// The process that is soaked.
import { serveSoak } from "./serve-soak.ts";

await serveSoak();
