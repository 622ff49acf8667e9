import { belongsTo, decimal, entity, hasMany, int, manyToMany, string } from "keelson";
import { album } from "./album.ts";
import { genre } from "./genre.ts";
import { invoiceLine } from "./invoice-line.ts";
import { mediaType } from "./media-type.ts";
import { playlist } from "./playlist.ts";

export const track = entity("track", {
  name: string.max(200).column("Name"),
  album: belongsTo(() => album).optional().column("AlbumId").onDelete("restrict"),
  mediaType: belongsTo(() => mediaType).column("MediaTypeId"),
  genre: belongsTo(() => genre).optional().column("GenreId").onDelete("restrict"),
  composer: string.max(220).optional().column("Composer"),
  milliseconds: int.column("Milliseconds"),
  bytes: int.optional().column("Bytes"),
  unitPrice: decimal(10, 2).column("UnitPrice"),
  invoiceLines: hasMany(() => invoiceLine),
  playlists: manyToMany(() => playlist).inverse("tracks").through("PlaylistTrack", { own: "TrackId", other: "PlaylistId" }),
})
  .id(int.column("TrackId"))
  .table("Track")
  .timestamps(false)
  .existing()
  .index(["albumId"])
  .index(["genreId"])
  .index(["mediaTypeId"])
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
