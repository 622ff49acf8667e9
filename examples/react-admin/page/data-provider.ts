import jsonServerProvider from "ra-data-json-server";
import { fetchUtils } from "react-admin";
import { currentSession } from "./session.ts";

/** The provider for json-server, as it comes: the API speaks its dialect. */
export const dataProvider = jsonServerProvider("/api", (url, options = {}) => {
  const session = currentSession();
  return fetchUtils.fetchJson(url, {
    ...options,
    ...(session && { user: { authenticated: true, token: `Bearer ${session.token}` } }),
  });
});
