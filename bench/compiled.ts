// Runs a benchmark of this folder compiled, as a user would deploy it: `tsx bench/compiled.ts growth rows`.
import { compilePeer, runCompiled } from "./build.ts";

const [name = "", ...args] = process.argv.slice(2);
/** What a benchmark starts in processes of their own. */
const beside: Readonly<Record<string, readonly string[]>> = {
  growth: ["server-cluster", "idle-connections"],
  pgbouncer: ["server-cluster"],
};
/** What a peer adds, where the peers are installed. */
const ofPeers: Readonly<Record<string, string>> = { screens: "zenstack/screens/answer" };
const peer = ofPeers[name];
if (peer !== undefined) await compilePeer(peer);
await runCompiled(name, beside[name], args);
