// The same server as node-pg, with timestamps that are never Dates.
import "../iso-timestamps.ts";
import "./node-pg.ts";
