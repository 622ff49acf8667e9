import { generateEncryptionKey } from "../../index.ts";
import { defineCommand } from "../shell/command.ts";

/** `keelson keys generate`: a new key, and nothing else, so that a script can take it. */
export const keysGenerate = defineCommand({
  description: "Print a new key for encrypted fields: 32 random bytes as 64 hexadecimal characters",
  examples: ["keys generate"],
  args: {},
  async run({ output }) {
    output.line(generateEncryptionKey());
    return 0;
  },
});
