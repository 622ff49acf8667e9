const works: (() => unknown)[] = [];

/** Runs work after the last test of the current file. Modules are shared by files, so `afterAll` in them runs only once. */
export function whenFileEnds(work: () => unknown): void {
  works.push(work);
}

export async function endFile(): Promise<void> {
  for (const work of works.splice(0).reverse()) await work();
}
