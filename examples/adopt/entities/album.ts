import { belongsTo, entity, hasMany, int, string } from "keelson";
import { artist } from "./artist.ts";
import { track } from "./track.ts";

export const album = entity("album", {
  title: string.max(160).column("Title"),
  artist: belongsTo(() => artist).column("ArtistId"),
  tracks: hasMany(() => track),
})
  .id(int.column("AlbumId"))
  .table("Album")
  .timestamps(false)
  .existing()
  .index(["artistId"])
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
