import type { AnyEntity } from "../../entity/index.ts";
import { runHooks } from "../../kernel/index.ts";
import type { MaskDraft } from "../operation/hook-map.ts";
import type { FieldMask } from "../operation/mask.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { CompiledEntity } from "../operation/runtime.ts";

interface Entry {
  readonly draft: MaskDraft;
  /** Until this is settled the mask is narrower than it may turn out to be. */
  pending: Promise<void> | undefined;
}

/** The field masks of one caller, each worked out when it is first asked for. */
export class ScopeMasks {
  /** Made on first use: most callers' masks are those of everybody. */
  #entries: Map<AnyEntity, Entry> | undefined;
  readonly #scope: OperationScope;

  constructor(scope: OperationScope) {
    this.#scope = scope;
  }

  of(compiled: CompiledEntity): FieldMask {
    return compiled.maskHooks.length === 0 ? compiled.mask : this.#entry(compiled).draft.mask;
  }

  /** Entities whose mask was asked for, where hooks narrow it. */
  get known(): readonly AnyEntity[] {
    return [...(this.#entries?.keys() ?? [])];
  }

  /** Resolves when the mask is final; undefined when it is. */
  ready(compiled: CompiledEntity): Promise<void> | undefined {
    return compiled.maskHooks.length === 0 ? undefined : this.#entry(compiled).pending;
  }

  /** The same for all masks that were asked for. */
  allReady(): Promise<void> | undefined {
    const pending = [...(this.#entries?.values() ?? [])].flatMap((entry) => entry.pending ?? []);
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => {});
  }

  #entry({ entity, mask, maskHooks }: CompiledEntity): Entry {
    this.#entries ??= new Map();
    const entries = this.#entries;
    const known = entries.get(entity);
    if (known !== undefined) return known;
    const entry: Entry = {
      draft: { entity, principal: this.#scope.principal, scope: this.#scope, mask },
      pending: undefined,
    };
    entries.set(entity, entry); // before the hooks run: their rules may ask for records, and so for this mask
    const forget = (error: unknown): never => {
      entries.delete(entity); // not all of its hooks have narrowed it: the next call runs them again
      throw error;
    };
    try {
      entry.pending = runHooks(maskHooks, entry.draft)?.then(() => {
        entry.pending = undefined;
      }, forget);
    } catch (error) {
      forget(error);
    }
    entry.pending?.catch(() => {}); // callers of `ready` get the error; without any it would end the process
    return entry;
  }
}
