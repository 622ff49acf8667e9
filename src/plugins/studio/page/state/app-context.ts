import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type {
  ActionDescription,
  AppDocument,
  EntityDescription,
  FieldDescription,
  RelationDescription,
} from "../../app-document.ts";

/** A record as the API shows it. */
export type Row = Readonly<Record<string, unknown>>;

/** State that all screens share. */
export interface AppState {
  readonly app: AppDocument;
  /** Shows a message for a few seconds. */
  tell(message: string): void;
  /** Loads the description of the app again, because the caller has changed. */
  restart(): void;
}

export const AppContext = createContext<AppState | undefined>(undefined);

export function useApp(): AppState {
  const state = useContext(AppContext);
  if (state === undefined) throw new TypeError("There is no app around this component");
  return state;
}

export function entityNamed(app: AppDocument, name: string | undefined): EntityDescription | undefined {
  return app.entities.find((entity) => entity.name === name);
}

export function entityAt(app: AppDocument, path: string | undefined): EntityDescription | undefined {
  return app.entities.find((entity) => entity.path === path);
}

export function fieldOf(entity: EntityDescription, name: string): FieldDescription | undefined {
  return entity.fields.find((field) => field.name === name);
}

/** The relation that uses a field as its key. */
export function relationOf(entity: EntityDescription, field: FieldDescription): RelationDescription | undefined {
  return entity.relations.find(({ name }) => name === field.relation);
}

/** The entity that a field refers to, when the caller may list its records. */
export function referredBy(app: AppDocument, entity: EntityDescription, field: FieldDescription) {
  const relation = relationOf(entity, field);
  if (relation === undefined || relation.remote) return undefined;
  const target = entityNamed(app, relation.target);
  return target?.rights.list === undefined ? undefined : target;
}

/** The path of an entity's routes, of one record, or of a route below it. */
export function pathOf({ api }: AppDocument, { path }: EntityDescription, below = "", id?: string): string {
  return `${api}/${path}${below.replace(":id", encodeURIComponent(id ?? ""))}`;
}

/** The title of a record. */
export function titleOf(entity: EntityDescription | undefined, record: Row): string {
  const title = entity === undefined ? undefined : record[entity.title];
  const text = title === null || title === undefined || title === "" ? record.id : title;
  return String(text ?? "");
}

export function actionWith(entity: EntityDescription, role: ActionDescription["role"]): ActionDescription | undefined {
  return entity.actions.find((action) => action.role === role);
}

/** Readable form of a path such as `films`. */
export function plural({ path }: EntityDescription): string {
  const text = path.replaceAll("-", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
