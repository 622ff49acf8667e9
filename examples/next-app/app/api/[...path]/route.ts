import { toNextHandler } from "keelson/next";
import { callerFrom } from "../../../../notes/caller.ts";
import { api } from "../../../api.ts";

export const dynamic = "force-dynamic";

export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = toNextHandler(api, {
  getUser: (request) => callerFrom(request.headers.get("authorization")),
});
