import { belongsTo, entity, string } from "../../../src/index.ts";

export const plan = entity("plan", { name: string }).rules({ read: ["everyone"] });

/** Records of a service: it serves them, and whoever joins them describes them with the same words. */
export const subscription = entity("subscription", { status: string, plan: belongsTo(() => plan) }).rules({
  read: ["everyone"],
});
