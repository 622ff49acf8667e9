import { useEffect, useState } from "preact/hooks";

/**
 * The current view: a path below `#/`, and parameters. It contains the view's whole state, so that links restore it.
 */
export interface Place {
  readonly path: readonly string[];
  readonly search: URLSearchParams;
}

/** Reads `#/films/f1?tab=reviews`. */
export function readPlace(hash: string): Place {
  const [path = "", ...rest] = hash.replace(/^#?\/?/, "").split("?");
  return {
    path: path
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent),
    search: new URLSearchParams(rest.join("?")),
  };
}

/** The link to a place. */
export function linkTo(path: readonly string[], search?: URLSearchParams | Readonly<Record<string, string>>): string {
  const text = search === undefined ? "" : new URLSearchParams(search as URLSearchParams).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

/** Opens a link. */
export function goTo(link: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) location.replace(link);
  else location.hash = link;
}

/** The current place; updates when it changes. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = (): void => setHash(location.hash);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return readPlace(hash);
}
