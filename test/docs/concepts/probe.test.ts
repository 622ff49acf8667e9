import { expect, it } from "vitest";
import { openPage } from "../../support/page.ts";
import { toPrismaSchema, memoryDriver, entity, string, int, keelson, json, datetime, belongsTo, hasMany, hasOne, manyToMany, selfRef, bool } from "keelson";
it("probe", async () => {
  const page = openPage("concepts/entities");
  const { api, article } = await page.load<any>("magazine.ts");
  console.log(toPrismaSchema(Object.values(api.entities) as any, { provider: "postgresql" }));
  await api.ready;
  const ann = api.as({ id: "ann" });
  const r = await ann.article.create({ title: " Keels ", publishedAt: null });
  console.log(r);
  for (const data of [{ state: null }, { views: 3 }, { title: "", body: "" }, {tagsIds: ["x"]}, { titel: "x"}, {id:"z"}, {title: "a", state: "x"}, {authorId: "ann"}, {author: {id:"ann"}}])
    console.log(JSON.stringify(data), await ann.article.update(r.id, data as any).then((x: any) => JSON.stringify(x), (e: any) => e.message + JSON.stringify(e.toJSON())));
  page.remove();
});
