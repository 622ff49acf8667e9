/** Key of the token in the tab's storage: it ends with the tab. */
const TOKEN = "studio.token";

let isVisiting = false;
let viewed: string | undefined;

/** The token that the caller pasted, or got from a login; undefined without one, or while they look as a visitor. */
export function currentToken(): string | undefined {
  return isVisiting ? undefined : (sessionStorage.getItem(TOKEN) ?? undefined);
}

/** Keeps a token for this tab. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token.trim().replace(/^Bearer\s+/i, ""));
}

/** Forgets it, and all else that the page keeps in this tab. */
export function forgetToken(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith("studio.")) sessionStorage.removeItem(key);
  isVisiting = false;
  viewed = undefined;
}

/** Looks as another user does: their description of the app is at this path. Undefined: as oneself again. */
export function view(path: string | undefined): void {
  viewed = path;
}

/** Where the description of the app is while the page looks as another user does. */
export function viewedPath(): string | undefined {
  return viewed;
}

/** Looks as a visitor does: requests have no token and no cookie. */
export function visit(on: boolean): void {
  isVisiting = on;
}

/** Whether the page looks as a visitor does. */
export function isVisitor(): boolean {
  return isVisiting;
}

/** The token's header, and whether cookies go along. */
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
