import type { RouteListing } from "keelson";
import type { FilmsApi } from "./api.ts";
import type { DemoSecrets } from "./demo-secrets.ts";
import { ada, grace, people } from "./people.ts";
import { createSigner } from "./tokens.ts";

export interface BannerFacts {
  readonly api: FilmsApi;
  readonly url: string;
  readonly file: string;
  readonly secrets: DemoSecrets;
}

/** The start-up text: address, routes, database, tokens, and four requests to paste. */
export async function banner({ api, url, file, secrets }: BannerFacts): Promise<string> {
  const filmId = await filmToReview(api);
  const sign = createSigner(secrets.tokens);
  const [person, admin] = await Promise.all([sign(ada), sign(grace)]);
  const credentials = JSON.stringify({ email: ada.email, password: secrets.passwords.ada });
  const review = JSON.stringify({ filmId, stars: 5, text: "Seen again, and still good.", note: "With Grace." });
  const query = "imdbRating_gte=8&genre.name=Drama&_sort=-imdbRating&_limit=5&include=director,reviews.author";
  return `
${routeTable(api)}

  API       ${url}${api.apiPrefix}
  Docs      ${url}/docs
  Studio    ${url}/studio   (log in as ${logins(secrets)})
  Database  ${file}
  Person    ${person}   (Ada writes reviews)
  Admin     ${admin}   (Grace may do everything)

Good dramas, with their directors and reviews:
  curl '${url}/api/films?${query}'

Ada logs in, with a password made for this demo, and gets a token of her own:
  curl -X POST '${url}/api/users/login' -H 'Content-Type: application/json' -d '${credentials}'

A review by Ada, with a note that only she can read:
  curl -X POST '${url}/api/reviews' -H 'Authorization: Bearer ${person}' -H 'Content-Type: application/json' -d '${review}'

Ada may not delete a film (403); with the admin's token it goes:
  curl -i -X DELETE '${url}/api/films/${filmId}' -H 'Authorization: Bearer ${person}'

Stop with Ctrl-C.
`;
}

/** The people of the demo and their generated passwords. */
function logins({ passwords }: DemoSecrets): string {
  return people.map(({ id, email }) => `${email} / ${passwords[id]}`).join(", or ");
}

/** The best drama that Ada has not reviewed yet; a person may review a film once. */
async function filmToReview(api: FilmsApi): Promise<string> {
  const client = api.as(ada);
  const reviewed = (await client.review.list({ where: { authorId: ada.id }, limit: 1000 })).data;
  const where = { genre: { name: "Drama" }, id: { nin: reviewed.map(({ filmId }) => filmId) } };
  const [film] = (await client.film.list({ where, sort: ["-imdbRating"], limit: 1 })).data;
  return film?.id ?? "no-such-film";
}

/** One line per path, with its methods and their rules. */
function routeTable(api: FilmsApi): string {
  const paths = groupBy(api.routes, ({ path }) => path);
  const width = Math.max(...[...paths.keys()].map((path) => path.length));
  return [...paths].map(([path, routes]) => `  ${path.padEnd(width)}  ${methods(routes)}`).join("\n");
}

function methods(routes: readonly RouteListing[]): string {
  const byRules = groupBy(routes, ({ rules }) => rules.join(" or ") || "no caller");
  return [...byRules].map(([rules, list]) => `${list.map(({ method }) => method).join(" ")} (${rules})`).join(", ");
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
