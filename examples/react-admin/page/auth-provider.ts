import { type AuthProvider, fetchUtils } from "react-admin";
import { beginSession, currentSession, endSession } from "./session.ts";

/** Logs in where the API does, and shows who that is. */
export const authProvider: AuthProvider = {
  async login({ username, password }) {
    const body = JSON.stringify({ email: username, password });
    const { json } = await fetchUtils.fetchJson("/api/users/login", { method: "POST", body });
    beginSession(json.token);
  },
  async logout() {
    endSession();
  },
  async checkAuth() {
    if (currentSession() === undefined) throw new Error("Please log in");
  },
  // Do not log out on a 403: react-admin shows its message.
  async checkError({ status }) {
    if (status !== 401) return;
    endSession();
    throw new Error("Please log in again");
  },
  async getIdentity() {
    const { id } = currentSession() ?? { id: "" };
    const { json } = await fetchUtils.fetchJson(`/api/users/${encodeURIComponent(id)}`);
    return { id, fullName: json.name };
  },
};
