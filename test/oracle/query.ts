/** The parts of queries. */
type Scalar = string | number | boolean | null;
/** What a caller sends as JSON. */
export type Json = Scalar | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** Related records with options: which, in which order, how many per record, and which of their fields. */
export interface IncludeOptions {
  readonly where?: JsonObject;
  readonly sort?: readonly string[];
  readonly limit?: number;
  readonly select?: readonly string[];
  readonly count?: true;
  readonly include?: Includes;
}
export type Includes = { readonly [relation: string]: true | IncludeOptions };

/** The options of a list. */
export interface ListQuery {
  /** `name`, `name_op` or `relation.relation.name_op`, with the text of the value. */
  readonly filters?: readonly (readonly [string, string])[];
  /** Conditions as JSON. */
  readonly where?: JsonObject;
  readonly q?: string;
  readonly highlight?: true;
  readonly sort?: readonly string[];
  readonly page?: number;
  readonly limit?: number;
  /** Paths of relations, or relations with options. */
  readonly include?: readonly string[] | Includes;
  readonly select?: readonly string[];
  readonly deleted?: "with" | "only";
}

/** The functions of an aggregate. */
export interface Computation {
  /** Columns, or calendar periods: `month(at)`. */
  readonly group?: readonly string[];
  readonly count?: true;
  readonly sum?: readonly string[];
  readonly avg?: readonly string[];
  readonly min?: readonly string[];
  readonly max?: readonly string[];
  readonly having?: JsonObject;
  /** Names of groups and measures. */
  readonly sort?: readonly string[];
  readonly limit?: number;
  readonly start?: number;
  readonly zone?: string;
}
