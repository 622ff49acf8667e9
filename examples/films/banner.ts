import type { RouteListing } from "keelson";
import type { FilmsApi } from "./api.ts";
import type { DemoTokens } from "./demo-tokens.ts";
import { ada } from "./people.ts";

export interface BannerFacts {
  readonly api: FilmsApi;
  readonly url: string;
  readonly file: string;
  readonly tokens: DemoTokens;
}

/** What a person needs to go on: address, routes, database, tokens, and three requests to paste. */
export async function banner({ api, url, file, tokens }: BannerFacts): Promise<string> {
  const filmId = await filmToReview(api);
  const review = JSON.stringify({ filmId, stars: 5, text: "Seen again, and still good." });
  const query = "imdbRating_gte=8&genre.name=Drama&_sort=-imdbRating&_limit=5&include=director,reviews.author";
  return `
${routeTable(api)}

  API       ${url}${api.apiPrefix}
  Database  ${file}
  Person    ${tokens.person}   (Ada writes reviews)
  Admin     ${tokens.admin}   (Grace may do everything)

Good dramas, with their directors and reviews:
  curl '${url}/api/films?${query}'

A review, written by Ada:
  curl -X POST '${url}/api/reviews' -H 'Authorization: Bearer ${tokens.person}' -H 'Content-Type: application/json' -d '${review}'

Ada may not delete a film (403); with the admin's token it goes:
  curl -i -X DELETE '${url}/api/films/${filmId}' -H 'Authorization: Bearer ${tokens.person}'

Stop with Ctrl-C.
`;
}

/** The best drama that Ada has not reviewed yet: a person reviews a film once. */
async function filmToReview(api: FilmsApi): Promise<string> {
  const client = api.as(ada);
  const reviewed = (await client.review.list({ where: { authorId: ada.id }, limit: 1000 })).data;
  const where = { genre: { name: "Drama" }, id: { nin: reviewed.map(({ filmId }) => filmId) } };
  const [film] = (await client.film.list({ where, sort: ["-imdbRating"], limit: 1 })).data;
  return film?.id ?? "no-such-film";
}

/** One line per path: who may use it with which method. */
function routeTable(api: FilmsApi): string {
  const paths = groupBy(api.routes, ({ path }) => path);
  const width = Math.max(...[...paths.keys()].map((path) => path.length));
  return [...paths].map(([path, routes]) => `  ${path.padEnd(width)}  ${methods(routes)}`).join("\n");
}

function methods(routes: readonly RouteListing[]): string {
  const byRules = groupBy(routes, ({ rules }) => rules.join(" or ") || "nobody");
  return [...byRules].map(([rules, list]) => `${list.map(({ method }) => method).join(" ")} (${rules})`).join(", ");
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
