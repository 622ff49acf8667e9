// Shared by adapters for hosts that are based on node:http (docs/adr/0008); not for users.
export { answer, type HandlingApp } from "./answer-request.ts";
export { announcesBody, type HostView, unreadBody } from "./node-request.ts";
export { basePath, originForm, pathBelow } from "./request-path.ts";
