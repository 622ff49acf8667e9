#!/usr/bin/env node
import { runCli } from "./run-cli.ts";
import { processTerminal } from "./shell/output.ts";

const code = await runCli(process.argv.slice(2), processTerminal());
// Open handles of a configuration, such as a connection to a cache, would keep a finished command running, so it exits
// explicitly, after the output has been flushed to a pipe.
if (code !== "serving") process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
