/** ` Did you mean "x"?`, or nothing. The kernel is loaded for it only now: help and version do without. */
export async function suggest(word: string, candidates: readonly string[]): Promise<string> {
  const { didYouMean } = await import("../kernel/index.ts");
  return didYouMean(word, candidates);
}
