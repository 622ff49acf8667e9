// A ready-made remote service: reads another API over HTTP by `?id=a&id=b`, which Keelson and json-server support (spec
// 2.6).

export { httpService } from "./http-service.ts";
