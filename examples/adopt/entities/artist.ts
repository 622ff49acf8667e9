import { entity, hasMany, int, string } from "keelson";
import { album } from "./album.ts";

export const artist = entity("artist", {
  name: string.max(120).optional().column("Name"),
  albums: hasMany(() => album),
})
  .id(int.column("ArtistId"))
  .table("Artist")
  .timestamps(false)
  .existing()
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
