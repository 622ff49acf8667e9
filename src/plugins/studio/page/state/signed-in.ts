/** Key of the token in the session storage, which is cleared when the tab is closed. */
const TOKEN = "studio.token";

let isVisiting = false;
let viewed: string | undefined;

/** The token that was pasted, or returned by a login. Undefined without a token, and while viewing as a visitor. */
export function currentToken(): string | undefined {
  return isVisiting ? undefined : (sessionStorage.getItem(TOKEN) ?? undefined);
}

/** Stores a token for this tab. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token.trim().replace(/^Bearer\s+/i, ""));
}

/** Removes the token and all other data that the page has stored for this tab. */
export function forgetToken(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith("studio.")) sessionStorage.removeItem(key);
  isVisiting = false;
  viewed = undefined;
}

/** Views the app as another user, whose description is at this path. Undefined ends it. */
export function view(path: string | undefined): void {
  viewed = path;
}

/** Path of the other user's description, while viewing as another user. */
export function viewedPath(): string | undefined {
  return viewed;
}

/** Views the app as a visitor: requests have no token and no cookie. */
export function visit(on: boolean): void {
  isVisiting = on;
}

/** Whether the app is viewed as a visitor. */
export function isVisitor(): boolean {
  return isVisiting;
}

/** The header with the token, and the mode for cookies. */
export function credentialsOf(): {
  readonly headers: Readonly<Record<string, string>>;
  readonly mode: RequestCredentials;
} {
  const token = currentToken();
  return {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    mode: isVisiting ? "omit" : "same-origin",
  };
}
