import type * as Library from "../../index.ts";

/** A project as commands see it. */
export interface Project {
  /** Path of its configuration. */
  readonly file: string;
  readonly config: Library.KeelsonConfig;
  /**
   * The copy of Keelson that the project uses itself. Rules that were defined by name, and process-wide keys, are known to
   * that copy alone, and a command that was installed elsewhere is another one.
   */
  readonly library: typeof Library;
}
