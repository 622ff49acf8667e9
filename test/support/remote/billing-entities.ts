import { belongsTo, entity, string } from "../../../src/index.ts";

export const plan = entity("plan", { name: string }).rules({ read: ["everyone"] });

/** Records of a service: the service serves them, and apps that join them use the same definitions. */
export const subscription = entity("subscription", { status: string, plan: belongsTo(() => plan) }).rules({
  read: ["everyone"],
});
