import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "tsup";

/** The folder of the package that a file belongs to. */
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENSE = /^licen[cs]e(\.(md|txt))?$/i;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const file = readdirSync(folder).find((entry) => LICENSE.test(entry));
  if (file === undefined) throw new Error(`${name} is compiled into dist, and has no licence text to put beside it`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

/** Writes the licence texts of all packages that are compiled into the built code, as their licences ask for. */
export function thirdPartyLicenses(): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "third-party-licenses",
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        const used = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
          Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
        );
        const folders = new Set(used.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []));
        if (folders.size === 0) return;
        const notices = [...folders].sort().map(noticeOf);
        const line = `\n${"-".repeat(80)}\n\n`;
        writeFileSync(
          join(build.initialOptions.outdir ?? "dist", "THIRD_PARTY_LICENSES.txt"),
          `The compiled files of this folder contain code of these packages.\n${line}${notices.join(line)}`,
        );
      });
    },
  };
}
