import type { Row } from "../../../kernel/index.ts";

/** Answers to questions about single records, for as long as nothing is written that could change them. */
export class RememberedReads {
  readonly #answers = new Map<string, Promise<readonly Row[]>>();

  /** @param query tells questions about one entity apart */
  async ask(entity: string, query: object, read: () => Promise<readonly Row[]>): Promise<Row[]> {
    const key = `${entity} ${JSON.stringify(query)}`;
    const answer = this.#answers.get(key) ?? read();
    this.#answers.set(key, answer);
    return structuredClone(await answer) as Row[];
  }

  forget(): void {
    this.#answers.clear();
  }
}
