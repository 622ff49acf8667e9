// Remult as its quick start has it: Express, and without a database of yours JSON files, here in the folder DATABASE.
import express from "express";
import { describeEntity, Fields, JsonDataProvider } from "remult";
import { remultApi } from "remult/remult-express";
import { JsonEntityFileStorage } from "remult/server";

class Item {
  id = "";
  title = "";
  body: string | null = null;
  views = 0;
  rating: number | null = null;
  open = false;
  seenAt: Date | null = null;
  status = "";
  meta: unknown = null;
}

const fields = {
  id: Fields.id(),
  title: Fields.string(),
  body: Fields.string({ allowNull: true }),
  views: Fields.integer(),
  rating: Fields.number({ allowNull: true }),
  open: Fields.boolean(),
  seenAt: Fields.date({ allowNull: true }),
  status: Fields.string(),
  meta: Fields.json({ allowNull: true }),
};

describeEntity(Item, "item0s", fields, { allowApiCrud: true });

const app = express();
app.use(
  remultApi({
    entities: [Item],
    logApiEndPoints: false,
    dataProvider: async () => new JsonDataProvider(new JsonEntityFileStorage(process.env.DATABASE as string)),
  }),
);
app.listen(Number(process.env.PORT), "127.0.0.1");
