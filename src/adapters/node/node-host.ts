// What adapters for hosts that stand on node:http share with this one (docs/adr/0008); users have no need of it.
export { answer, type HandlingApp } from "./answer-request.ts";
export { basePath } from "./base-path.ts";
export { announcesBody, type HostView, unreadBody } from "./node-request.ts";
export { originForm, pathBelow } from "./request-target.ts";
