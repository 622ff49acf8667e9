export { composeId, compositeIdKind, idParts } from "./composite-id.ts";
export { datetimeKind } from "./datetime.ts";
export { blindIndexKind, encryptedKind, wordsKind } from "./encrypted.ts";
export { bigintKind, decimalKind, MOST_DIGITS } from "./exact-numbers.ts";
export { idKindOf } from "./ids.ts";
export { isJsonValue, jsonKind } from "./json.ts";
export { boolKind, floatKind, intKind } from "./number-and-bool.ts";
export { emailKind, enumKind, idKind, isStorableText, stringKind, textKind } from "./string.ts";
export { bytesKind, dateKind, timeKind, uuidKind } from "./written-forms.ts";
