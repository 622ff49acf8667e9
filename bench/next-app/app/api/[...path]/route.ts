import { toNextHandler } from "keelson/next";
import { createMemoryApp } from "../../../../memory-app.ts";

export const dynamic = "force-dynamic";

export const { GET, POST, PUT } = toNextHandler(await createMemoryApp());
