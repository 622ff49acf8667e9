/** Reads an OpenAPI document: which routes it lists, and which fields. */
import type { EntityModel, Model, Reader } from "./model.ts";

/** The compared parts of a document. */
export interface OpenApi {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly parameters: { readonly [name: string]: Parameter };
    readonly schemas: { readonly [name: string]: { readonly properties: object } };
  };
}
interface Operation {
  readonly parameters?: readonly Parameter[];
}
/** A parameter, or a reference to one. */
interface Parameter {
  readonly name?: string;
  readonly $ref?: string;
}

/**
 * One line per route, as in `GET /api/notes/{id}`. The routes that read a record and a list also have one line per field
 * that they show and filter by. The system may read all fields, so its document has only lines of routes.
 */
export function listedIn(document: OpenApi, model: Model, of: Reader): string[] {
  const lines = model.entities.flatMap((entity) => {
    const paths = Object.keys(document.paths).filter((path) => path.split("/")[2] === `${entity.name}s`);
    const routes = paths.flatMap((path) =>
      Object.keys(document.paths[path] ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    );
    return of === "system" ? routes : [...routes, ...fieldsOf(document, entity)];
  });
  return lines.sort();
}

function fieldsOf({ paths, components }: OpenApi, entity: EntityModel): string[] {
  const list = `/api/${entity.name}s`;
  const own = (names: readonly unknown[]): string[] =>
    entity.fields.map(({ name }) => name).filter((name) => names.includes(name));
  const schema = components.schemas[`${entity.name[0]?.toUpperCase()}${entity.name.slice(1)}`];
  const shown = paths[`${list}/{id}`]?.get === undefined ? [] : own(Object.keys(schema?.properties ?? {}));
  const parameters = (paths[list]?.get?.parameters ?? []).map(({ name, $ref = "" }) => {
    const shared = components.parameters[$ref.slice($ref.lastIndexOf("/") + 1)];
    return name ?? shared?.name;
  });
  return [
    ...shown.map((name) => `GET ${list}/{id} shows ${name}`),
    ...own(parameters).map((name) => `GET ${list} filters by ${name}`),
  ];
}
