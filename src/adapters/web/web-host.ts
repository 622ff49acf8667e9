// Shared by adapters for hosts that use Request and Response; not for users.
export { answerWebRequest } from "./answer-web-request.ts";
export { pathOf, placeOf, WebRequest, type WebView } from "./web-request.ts";
