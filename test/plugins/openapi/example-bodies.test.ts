import {
  belongsTo,
  bool,
  datetime,
  decimal,
  email,
  entity,
  enums,
  int,
  keelson,
  memoryDriver,
  string,
  uuid,
} from "keelson";
import { openapiDocument } from "keelson/openapi";
import { expect, it, onTestFinished } from "vitest";
import { request, startApp } from "../../support/http.ts";

const everyone = { read: ["everyone"], create: ["everyone"] } as const;
const city = entity("city", {
  name: string.min(12).max(20),
  founded: int.min(800),
  zip: string.regex(/^\d{5}$/).example("10115"),
}).rules(everyone);
const guest = entity("guest", {
  name: string,
  email: email.unique(),
  kind: enums("friend", "stranger"),
  age: int.positive(),
  paid: decimal(8, 2),
  code: uuid,
  isHere: bool,
  arrives: datetime,
  homepage: string.url(),
  nick: string.optional(),
  city: belongsTo(() => city),
}).rules(everyone);

it("the example of a body creates a record, once ids of others are filled in", async () => {
  const api = keelson({ entities: [city, guest], driver: memoryDriver() });
  const { url, close } = await startApp(api);
  onTestFinished(close);
  const { components } = await openapiDocument(api);
  const exampleOf = (name: string): object => (components.schemas[name] as { examples: [object] }).examples[0];
  const made = await request(url, "POST", "/api/cities", { body: exampleOf("CityCreate") });
  expect([made.status, made.json]).toMatchObject([201, { zip: "10115" }]);
  const cityId = (made.json as { id: string }).id;
  const other = await request(url, "POST", "/api/guests", { body: { ...exampleOf("GuestCreate"), cityId } });
  expect([other.status, other.json]).toMatchObject([201, { kind: "friend", nick: null }]);
});
