// Writes the tables of docs/reliability.md again, from the figures in the repository.
import { readFileSync, writeFileSync } from "node:fs";
import { readReliabilityFigures } from "./reliability-figures.ts";
import { fillReliabilityPage } from "./reliability-page.ts";

const page = new URL("../../docs/reliability.md", import.meta.url);
writeFileSync(page, fillReliabilityPage(readFileSync(page, "utf8"), readReliabilityFigures()));
