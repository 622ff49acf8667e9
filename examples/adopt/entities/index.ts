import { album } from "./album.ts";
import { artist } from "./artist.ts";
import { customer } from "./customer.ts";
import { employee } from "./employee.ts";
import { genre } from "./genre.ts";
import { invoice } from "./invoice.ts";
import { invoiceLine } from "./invoice-line.ts";
import { mediaType } from "./media-type.ts";
import { playlist } from "./playlist.ts";
import { track } from "./track.ts";

/** All entities of the database, for `defineConfig({ entities })`. */
export const entities = [
  album,
  artist,
  customer,
  employee,
  genre,
  invoice,
  invoiceLine,
  mediaType,
  playlist,
  track,
];
