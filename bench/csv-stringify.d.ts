/**
 * What the contenders use of csv-stringify. Declared here so that the compiler needs no package of this folder, as in
 * autocannon.d.ts.
 */
declare module "csv-stringify/sync" {
  interface Options {
    readonly columns: readonly string[];
    readonly record_delimiter: "windows";
    readonly quoted_string: boolean;
    readonly escape_formulas: boolean;
    readonly cast: { readonly boolean: (value: boolean) => string; readonly date: (value: Date) => string };
  }

  export function stringify(records: readonly object[], options: Options): string;
}
