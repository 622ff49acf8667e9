import { type Keelson, memoryDriver } from "keelson";
import { createBenchApi } from "./keelson-api.ts";
import { seedPosts, seedUsers } from "./seed.ts";

/** The API on records in memory, where what an adapter costs is not lost behind a database. */
export async function createMemoryApp(): Promise<Keelson> {
  const post = seedPosts().map(({ createdAt, updatedAt, ...rest }) => ({
    ...rest,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  }));
  const api = createBenchApi(memoryDriver({ user: seedUsers().map((user) => ({ ...user })), post }));
  await api.ready;
  return api;
}
