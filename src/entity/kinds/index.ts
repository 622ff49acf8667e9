export { boolKind } from "./bool.ts";
export { datetimeKind } from "./datetime.ts";
export { blindIndexKind, encryptedKind } from "./encrypted.ts";
export { isJsonValue, jsonKind } from "./json.ts";
export { floatKind, intKind } from "./number.ts";
export { emailKind, enumKind, idKind, stringKind, textKind } from "./string.ts";
