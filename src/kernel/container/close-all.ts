/** Something a container made and closes again. */
type Closable = { [K in "dispose" | "close" | typeof Symbol.asyncDispose | typeof Symbol.dispose]?: () => unknown };

/** Closes instances, last in, first out; all are attempted. A factory that failed has left nothing to close. */
export async function closeAll(instances: Map<string, unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const made of [...new Set(instances.values())].reverse()) {
    const instance = await Promise.resolve(made).catch(() => undefined);
    await closeInstance(instance).catch((error: unknown) => failures.push(error));
  }
  instances.clear();
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} services failed to close`);
}

async function closeInstance(instance: unknown): Promise<void> {
  const closable = (instance ?? {}) as Closable;
  const end = closable[Symbol.asyncDispose] ?? closable[Symbol.dispose] ?? closable.dispose ?? closable.close;
  if (typeof end === "function") await end.call(instance);
}
