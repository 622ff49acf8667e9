export { datetimeKind } from "./datetime.ts";
export { blindIndexKind, encryptedKind } from "./encrypted.ts";
export { isJsonValue, jsonKind } from "./json.ts";
export { boolKind, floatKind, intKind } from "./number-and-bool.ts";
export { emailKind, enumKind, idKind, stringKind, textKind } from "./string.ts";
