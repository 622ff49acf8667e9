import { entity, hasMany, string } from "keelson";
import { catalogueRules } from "../rules.ts";
import { film } from "./film.ts";

export const director = entity("director", {
  name: string.trim().min(1).unique(),
  films: hasMany(() => film),
}).rules(catalogueRules);
