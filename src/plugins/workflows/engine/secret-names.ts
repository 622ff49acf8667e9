import type { EntityModel, FieldDefinition } from "../../../entity/index.ts";

type Declared = Readonly<Record<string, { readonly definition?: FieldDefinition | undefined }>>;

/** Names of fields that are passwords: those of entities, and those that actions are given. */
export function secretNames({ entities }: EntityModel): ReadonlySet<string> {
  const names = entities.flatMap(({ fields, actions }) => [
    ...passwordsAmong(Object.entries(fields)),
    ...Object.values(actions).flatMap(givenPasswords),
  ]);
  return new Set(names);
}

function givenPasswords(action: unknown): readonly string[] {
  const { definition = action } = (action ?? {}) as { readonly definition?: unknown };
  const { input, query } = (definition ?? {}) as { readonly input?: Declared; readonly query?: Declared };
  return [input, query].flatMap((given) =>
    passwordsAmong(Object.entries(given ?? {}).map(([name, field]) => [name, field.definition])),
  );
}

function passwordsAmong(fields: readonly (readonly [string, FieldDefinition | undefined])[]): readonly string[] {
  return fields.flatMap(([name, field]) => (field?.password === undefined ? [] : [name]));
}
