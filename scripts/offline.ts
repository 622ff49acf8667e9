/**
 * Runs the tests of the embedded database, of migrations and of the command where there is no network but the machine's
 * own loopback: nothing may be downloaded. Needs Linux with `unshare` (util-linux) and `ip` (iproute2).
 * PostgreSQL is the one from npm there; what needs MariaDB is left out and says so. `npm run offline [-- <tests>...]`
 */
import { spawnSync } from "node:child_process";

const TESTS = ["test/drivers/embedded", "test/drivers/migrations", "test/cli"];

const tests = process.argv.length > 2 ? process.argv.slice(2) : TESTS;
// Without CI, a server that is not there is a reason to leave a test out.
const { CI: _, ...env } = process.env;
// Whoever is not root is root of nothing but the new network: the files stay their own.
const rights = process.getuid?.() === 0 ? [] : ["--map-current-user", "--keep-caps"];
const { status } = spawnSync(
  "unshare",
  [...rights, "--net", "sh", "-c", 'ip link set lo up && exec npx vitest run "$@"', "sh", ...tests],
  { stdio: "inherit", env: env as NodeJS.ProcessEnv },
);
process.exitCode = status ?? 1;
