import { canonicalize } from "../routes/canonicalize.ts";
import type { RouteRegistry } from "../routes/route-registry.ts";

/** Whether a raw URL is the app's: under its prefix, or a plugin's endpoint. */
export function ownsUrl(registry: RouteRegistry, url: string, base: string | undefined, maxBytes: number): boolean {
  if (base !== undefined) return true;
  try {
    return registry.owns(canonicalize(url, maxBytes).path, base);
  } catch {
    // Below the app's prefix a malformed path gets the app's 400; elsewhere another handler of the host may accept it.
    return registry.owns(url.split(/[?#]/, 1)[0] ?? "", base);
  }
}
