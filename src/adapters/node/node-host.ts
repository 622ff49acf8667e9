// What adapters for hosts that stand on node:http share with this one (docs/adr/0008); users have no need of it.
export { answer, type HandlingApp } from "./answer-request.ts";
export { announcesBody, type HostView, unreadBody } from "./node-request.ts";
export { basePath, originForm, pathBelow } from "./request-path.ts";
