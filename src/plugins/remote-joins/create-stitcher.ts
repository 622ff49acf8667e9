import type { AnyEntity } from "../../entity/index.ts";
import type { IncludeTree, Row } from "../../gate/index.ts";
import { createAskService } from "./ask-service.ts";
import { createFailures, type Failures } from "./failures.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import { stitchRecords } from "./stitch.ts";
import type { StitchContext } from "./stitch-context.ts";
import { createDeadline } from "./stitch-deadline.ts";

/** What a stitch is about, and on whose behalf it is done. */
export interface StitchInput extends Pick<StitchContext, "model" | "services" | "viewer" | "caller" | "memo"> {
  readonly entity: AnyEntity;
  /** Relations are added to these very objects. */
  readonly records: readonly Row[];
  /** Relations that are remote. */
  readonly include: IncludeTree;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal | undefined;
}

/** Joins within one deadline; what failed comes back. It rejects only for what the app's own database or rules throw. */
export type Stitcher = (input: StitchInput) => Promise<Failures>;

/** A stitcher for one app, with what it learns about its services. */
export function createStitcher(settings: JoinSettings): Stitcher {
  const ask = createAskService(settings);
  return async ({ entity, records, include, signal, ...given }) => {
    const deadline = createDeadline(settings.timeout, signal);
    const failures = createFailures();
    const own = { settings, ask, deadline, failures, loaders: new Map() };
    try {
      await stitchRecords({ ...given, ...own }, entity, records, include);
    } catch (error) {
      deadline.abandon();
      throw error;
    }
    deadline.end();
    return failures;
  };
}
