import { entity, hasMany, int, string } from "keelson";
import { track } from "./track.ts";

export const genre = entity("genre", {
  name: string.max(120).optional().column("Name"),
  tracks: hasMany(() => track),
})
  .id(int.column("GenreId"))
  .table("Genre")
  .timestamps(false)
  .existing()
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
