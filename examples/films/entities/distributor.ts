import { entity, hasMany, string } from "keelson";
import { catalogueRules } from "../rules.ts";
import { film } from "./film.ts";

export const distributor = entity("distributor", {
  name: string.trim().min(1).unique(),
  films: hasMany(() => film),
}).rules(catalogueRules);
