import { OPERATORS, type Operator } from "../../../entity/kinds/operators.ts";

type OperatorKey = `op.${Operator}`;

const OPERATOR_WORDS = Object.fromEntries(
  Object.entries(OPERATORS).map(([name, { label }]) => [`op.${name}`, label]),
) as Readonly<Record<OperatorKey, string>>;

/** The texts of the page, by key; `{name}` is replaced by a value. Another language can replace some or all of them. */
export const ENGLISH = {
  actions: "Actions",
  add: "Add",
  addFilter: "Add filter",
  all: "All",
  allowedAll: "yes",
  allowedNot: "no",
  allowedSome: "some",
  anonymous: "Not logged in",
  apply: "Apply",
  areYouSure: "This cannot be undone by the studio.",
  ascending: "ascending",
  attempts: "({count} attempts)",
  base: "When you began",
  cancel: "Cancel",
  changeField: "Change a field",
  changed: "{count} changed",
  chart: "Chart",
  check: "Check",
  checked: "Checked: {created} would be created, {updated} changed, {failed} refused.",
  choose: "Choose…",
  clear: "Clear",
  close: "Close",
  columns: "Columns",
  compensation: "Taken back",
  conflict: "Someone else changed this record",
  conflictHint: "Choose what to keep for each field, then save again.",
  copied: "Copied",
  count: "Count",
  countAll: "Count all",
  countedSome: "These are the values of the first records.",
  counting: "Counting…",
  create: "Create {name}",
  created: "Created",
  dark: "Dark",
  data: "Data",
  delete: "Delete",
  deleteRecords: "Delete {count} records?",
  deleteRecord: "Delete “{title}”?",
  deleted: "Deleted",
  deletedOnly: "Deleted only",
  deletedRecord: "This record is deleted.",
  descending: "descending",
  details: "Details",
  done: "{name}: done",
  edit: "Edit",
  empty: "Nothing here yet.",
  errors: "Please check {count} field(s).",
  export: "Export",
  exported: "{count} records exported",
  exporting: "{size} kB…",
  failed: "Failed",
  field: "Field",
  file: "File",
  filters: "Filters",
  filterMenu: "Find in the menu",
  firstPage: "First page",
  format: "Format",
  from: "From",
  group: "Group by",
  health: "Health",
  healthy: "The app answers, and so does its database.",
  hidden: "hidden in this record",
  history: "History",
  home: "Start",
  import: "Import",
  importHint: "A CSV file, a JSON array or one JSON object per line.",
  imported: "{created} created, {updated} changed, {failed} refused.",
  isEmpty: "is empty",
  key: "Key",
  keyEncrypts: "encrypts",
  keyMissing: "not configured",
  keyReads: "reads old values",
  keys: "Encryption keys",
  language: "en",
  light: "Light",
  loading: "Loading…",
  login: "Log in",
  loginFailed: "That did not work: {message}",
  logout: "Log out",
  match: "Combine the filters",
  matchAll: "all must hold",
  matchAny: "one is enough",
  measure: "Show",
  menu: "Menu",
  next: "Next",
  no: "no",
  noAccess: "You may not see anything here. Log in to see more.",
  noMatches: "No records match.",
  none: "none",
  notFound: "There is no such page.",
  noValues: "There are no encrypted values.",
  of: "{count} records",
  operations: "Operations",
  operator: "Condition",
  paste: "Or paste the rows here",
  pasteToken: "Access token",
  previous: "Previous",
  reload: "Try again",
  refused: "Refused rows",
  remoteFailed: "Not available: {reason}",
  remove: "Remove",
  rights: "Rights",
  rotate: "Rotate keys",
  rotated: "{count} values were given the key “{key}”",
  rotateHint:
    "All encrypted values get the key “{key}”. Every process has to have it first. The app goes on meanwhile.",
  rotation: "Rotation",
  rotationFailed: "{count} could not be read",
  rotationProgress: "{records} of {total} records, {count} values changed",
  rules: "Rules",
  rightsHint: "What the rules let each caller do. “Some” means: some records.",
  row: "Row",
  rowsPerPage: "Rows",
  run: "Run",
  runId: "Id of a run",
  runs: "Workflow runs",
  save: "Save",
  saved: "Saved",
  search: "Search",
  select: "Select {title}",
  selectAll: "Select all on this page",
  selected: "{count} selected",
  serviceClosed: "answers",
  serviceHalfOpen: "is tried again",
  serviceOpen: "left alone for a while",
  services: "Remote services",
  session: "Session",
  show: "Show",
  skip: "Skip to the content",
  started: "Started: run {id}",
  step: "Step",
  steps: "Steps",
  stop: "Stop",
  system: "System",
  theirs: "Now",
  theme: "Theme",
  title: "Studio",
  unhealthy: "The app cannot answer requests: {message}",
  userId: "Id of a user",
  value: "Value",
  values: "Values",
  view: "View",
  viewAs: "View as a visitor",
  viewAsEnd: "Back to my own view",
  viewAsHint: "You read with their rights and change nothing. Each request is written into the audit log.",
  viewAsUser: "View as another user",
  viewing: "You see what visitors see.",
  viewingAs: "You see what {id} sees, and change nothing.",
  workflow: "Workflow",
  yes: "yes",
  you: "You",
  yours: "Yours",
  visitor: "Visitor",
  ...OPERATOR_WORDS,
} as const;

/** A key of the dictionary. */
export type WordKey = keyof typeof ENGLISH;

let words: Readonly<Record<string, string>> = ENGLISH;

/** Replaces English texts by those of another language. */
export function translate(given: Readonly<Record<string, string>>): void {
  words = { ...ENGLISH, ...given };
}

/** The text for a key, with its values inserted. */
export function say(key: WordKey, values: Readonly<Record<string, string | number>> = {}): string {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

/** Readable form of a name: `releaseDate` becomes “Release date”. The dictionary can replace it under `name.<name>`. */
export function label(name: string): string {
  const own = words[`name.${name}`];
  if (own !== undefined) return own;
  const spaced = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[-_]+/g, " ")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  const text = spaced
    .split(" ")
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
