import { useEffect, useState } from "preact/hooks";

/** Where the page is: a path below `#/`, and parameters. All of a view's state is in it, so that a link shows the view again. */
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

/** Goes there. */
export function goTo(link: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) location.replace(link);
  else location.hash = link;
}

/** The place, and its changes. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = (): void => setHash(location.hash);
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return readPlace(hash);
}
