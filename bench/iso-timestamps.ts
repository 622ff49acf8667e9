// Has pg read timestamps as ISO 8601 texts, as few servers do: there is no Date on the way to JSON then.
import { types } from "pg";

// TIMESTAMP(3) holds UTC. PostgreSQL drops trailing zeros.
const timestamp = 1114;
types.setTypeParser(
  timestamp,
  (text) => `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20).padEnd(3, "0")}Z`,
);
