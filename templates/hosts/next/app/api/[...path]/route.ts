import { toNextHandler } from "keelson/next";
import { api } from "../../../src/api.ts";

export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = toNextHandler(api, { base: "" });
