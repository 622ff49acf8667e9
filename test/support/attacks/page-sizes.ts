import { MOST_PER_PAGE } from "./attacked-app.ts";
import type { Attack } from "./probe.ts";

const BEYOND = MOST_PER_PAGE + 1;
const NUMBERS = [
  ...["-1", "0", "-0", "1.5", "1e3", "1e9", "0x40", "99999999999999999999", "NaN", "Infinity", "null", "", "all"],
  ...["%2B40", "%2040", "40%20", "40;", "40,5", "４０", "[]", "true", String(BEYOND), "1000"],
];

/** Requests for more records than a page may hold. */
export const pageSizes: Attack = {
  name: "more records than a page holds",
  async run(probe) {
    const stored = await probe.stored("account");
    probe.control(stored.length > BEYOND, "there are more accounts than a page holds");
    const everyId = stored.map(({ id }) => `id=${id}`).join("&");
    const inList = stored.map(({ id }) => id).join();
    const queries = [
      "",
      everyId,
      `id_in=${inList}`,
      `${everyId}&_limit=${BEYOND}`,
      ...NUMBERS.flatMap((number) => [
        `_limit=${number}`,
        `_limit=${number}&_page=1`,
        `_start=0&_end=${number}`,
        `_start=${number}&_end=${BEYOND}`,
        `_start=${number}&_end=1000`,
        `_page=${number}&_limit=${BEYOND}`,
        `_limit=${number}&_total=none`,
        `_sort=id&_after=${Buffer.from('["id",""]').toString("base64url")}&_limit=${number}`,
      ]),
      ...["take", "limit", "per_page", "pageSize", "first", "last", "$top", "size", "_size"].map(
        (name) => `${name}=1000`,
      ),
      `_limit=1&_limit=1000`,
      `_limit[]=1000`,
      `_limit=5&_start=0&_end=1000`,
    ];
    for (const query of queries) {
      const path = `/api/accounts?${query}`;
      const { status, json } = await probe.send("ann", "GET", path);
      if (status >= 500) probe.found(`GET ${path.slice(0, 120)} was answered ${status}`);
      if (json?.length > MOST_PER_PAGE) probe.found(`GET ${path.slice(0, 120)} shows ${json.length} records`);
    }
    const levels = Array.from({ length: 20 }, () => "boss").join(".");
    const many = Array.from({ length: 1_000 }, () => "boss").join();
    for (const include of [levels, many, "friends.friends.friends.friends"]) {
      const { status } = await probe.send("ann", "GET", `/api/people?include=${include}`);
      if (status >= 500 || (status < 400 && include !== many))
        probe.found(`include=${include.slice(0, 40)}…: ${status}`);
    }
  },
};
