// A ready remote service: reads another API over HTTP by `?id=a&id=b`, as Keelson and json-server answer it (spec 2.6).

export { httpService } from "./http-service.ts";
