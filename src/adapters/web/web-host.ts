// What adapters for hosts that speak Request and Response share with each other; users have no need of it.
export { answerWebRequest } from "./answer-web-request.ts";
export { pathOf, placeOf, WebRequest, type WebView } from "./web-request.ts";
