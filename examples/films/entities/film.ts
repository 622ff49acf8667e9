import { belongsTo, datetime, entity, enums, float, hasMany, importAction, int, string } from "keelson";
import { catalogueRules } from "../rules.ts";
import { director } from "./director.ts";
import { distributor } from "./distributor.ts";
import { genre } from "./genre.ts";
import { review } from "./review.ts";

/** Money is `float`: the largest sum, 2,767,891,499 dollars, does not fit into a 32-bit `int`. */
const dollars = float.min(0).optional();

export const film = entity("film", {
  title: string.trim().min(1),
  releaseDate: datetime.optional(),
  mpaaRating: enums("G", "PG", "PG-13", "R", "NC-17", "Not Rated", "Open").optional(),
  runningTime: int.positive().optional().describe("Minutes"),
  productionBudget: dollars,
  usGross: dollars,
  worldwideGross: dollars,
  usDvdSales: dollars,
  imdbRating: float.min(0).max(10).optional(),
  imdbVotes: int.min(0).optional(),
  rottenTomatoesRating: int.min(0).max(100).optional().describe("Per cent"),
  source: string.optional(),
  creativeType: string.optional(),
  genre: belongsTo(() => genre).optional(),
  director: belongsTo(() => director).optional(),
  distributor: belongsTo(() => distributor).optional(),
  reviews: hasMany(() => review),
})
  // A remake shares the title of its original, but not the day.
  .unique(["title", "releaseDate"])
  .index(["imdbRating"])
  .rules(catalogueRules)
  .actions({ import: importAction() });
