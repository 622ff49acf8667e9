import { entity, int, manyToMany, string } from "keelson";
import { track } from "./track.ts";

export const playlist = entity("playlist", {
  name: string.max(120).optional().column("Name"),
  tracks: manyToMany(() => track).inverse("playlists"),
})
  .id(int.column("PlaylistId"))
  .table("Playlist")
  .timestamps(false)
  .existing()
  // Denies everything: say who may do what, such as { read: ["authenticated"] }.
  .rules({ create: [], read: [], update: [], delete: [] });
