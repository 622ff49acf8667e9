import type { RemoteService } from "../../index.ts";
import type { AccessMatrix } from "../access/access-matrix.ts";
import type { AppParts } from "../project/app-parts.ts";

/** What rules look at: what an app is made of, and who may do what in it. */
export interface LintSubject extends AppParts {
  readonly matrix: AccessMatrix;
  /** Services of remote relations by name, as far as the app itself has them. */
  readonly services: ReadonlyMap<string, RemoteService>;
}

/** A rule of the linter, about definitions that work and are likely to be a mistake. */
export interface LintRule {
  /** Kebab-case, the name of its file. */
  readonly id: string;
  readonly title: string;
  /** What may come of it. */
  readonly why: string;
  /** What to write instead. */
  readonly fix: string;
  /** "warning" fails the command; "note" may well be meant. */
  readonly level: "warning" | "note";
  /** Where it applies, as a reader of the definitions knows the place, and what is there. */
  find(subject: LintSubject): readonly Place[];
}

export interface Place {
  /** `note`, `note.text`, `POST /api/notes`. */
  readonly at: string;
  /** A sentence without a full stop. */
  readonly what: string;
}

/** What a rule has found. */
export type Finding = Pick<LintRule, "id" | "level"> & Place;
