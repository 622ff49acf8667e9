import type DataLoader from "dataloader";
import type { EntityModel } from "../../entity/index.ts";
import type { RemoteCaller } from "../../gate/index.ts";
import type { AskService } from "./ask-service.ts";
import type { Answer } from "./check-records.ts";
import type { Failures } from "./failures.ts";
import type { Memo } from "./memo.ts";
import type { JoinSettings } from "./remote-joins-options.ts";
import type { Deadline } from "./stitch-deadline.ts";
import type { Viewer } from "./viewer.ts";

/** Where services are found by name. */
export interface ServiceLookup {
  has(name: string): boolean;
  /** The service, or a promise of it. */
  resolve(name: string): unknown;
}

/** What one stitch works with: all relations, batches and levels of it. */
export interface StitchContext {
  readonly settings: JoinSettings;
  readonly model: EntityModel;
  readonly services: ServiceLookup;
  readonly viewer: Viewer;
  /** Undefined when the caller is not known. */
  readonly caller: RemoteCaller | undefined;
  readonly memo: Memo;
  readonly deadline: Deadline;
  readonly failures: Failures;
  readonly ask: AskService;
  /** Loaders by question: ids of all relations that ask the same go together. */
  readonly loaders: Map<string, DataLoader<string, Answer>>;
}
