/** Who is logged in, as far as the page knows: the API decides by the token, whatever the page believes. */
export interface Session {
  readonly token: string;
  readonly id: string;
  readonly role: string;
}

const KEY = "films.token";

/** The session of this tab; it ends with the tab. */
export function currentSession(): Session | undefined {
  const token = sessionStorage.getItem(KEY);
  if (token === null) return undefined;
  const payload = token.split(".")[1] ?? "";
  const { sub, role } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return { token, id: sub, role };
}

export function beginSession(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function endSession(): void {
  sessionStorage.removeItem(KEY);
}
