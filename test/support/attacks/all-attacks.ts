import { atRest } from "./at-rest.ts";
import { csvFormulas } from "./csv-formulas.ts";
import { existence } from "./existence.ts";
import { foreignIdsInBulk } from "./foreign-ids-in-bulk.ts";
import { foreignObjects } from "./foreign-objects.ts";
import { forgedTokens } from "./forged-tokens.ts";
import { hiddenFields } from "./hidden-fields.ts";
import { identifiers } from "./identifiers.ts";
import { massAssignment } from "./mass-assignment.ts";
import { otherNotations } from "./other-notations.ts";
import { otherPaths } from "./other-paths.ts";
import { outputPaths } from "./output-paths.ts";
import { pageSizes } from "./page-sizes.ts";
import type { Attack } from "./probe.ts";
import { prototypeNames } from "./prototype-names.ts";
import { rateLimitKeys } from "./rate-limit-keys.ts";
import { sharedAnswers } from "./shared-answers.ts";
import { sideDoors } from "./side-doors.ts";
import { unicodeIdentity } from "./unicode-identity.ts";

/** All attack classes: those that change nothing come first; the one that inspects stored data comes last. */
export const ATTACKS: readonly Attack[] = [
  sharedAnswers,
  hiddenFields,
  otherNotations,
  sideDoors,
  existence,
  foreignObjects,
  foreignIdsInBulk,
  outputPaths,
  massAssignment,
  prototypeNames,
  identifiers,
  pageSizes,
  forgedTokens,
  unicodeIdentity,
  otherPaths,
  rateLimitKeys,
  csvFormulas,
  atRest,
];
