import { keelson } from "keelson";
import config from "../keelson.config.ts";

export const api = keelson(config);
