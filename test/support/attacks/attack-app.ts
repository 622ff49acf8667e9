import { rawRequest, requestBytes } from "../http.ts";
import type { Attack, AttackResult, Probe, Target } from "./probe.ts";
import { sendAs } from "./send-as.ts";

/** Thrown when an attack produces the expected finding. */
const ENOUGH = Symbol("enough");

/**
 * Runs an attack against an app.
 * @param sought the attack ends at the first finding that matches
 */
export async function attackApp(target: Target, attack: Attack, sought?: RegExp): Promise<AttackResult> {
  const findings: string[] = [];
  let tried = 0;
  const probe: Probe = {
    ...target,
    async send(caller, method, path, init = {}) {
      tried++;
      return sendAs(target, caller, method, path, init);
    },
    async sendTarget(caller, method, to, headers = []) {
      tried++;
      const token = target.tokens[caller];
      const lines = token === undefined ? headers : [...headers, `Authorization: Bearer ${token}`];
      const [answer] = await rawRequest(target.port, requestBytes(method, to, lines));
      if (answer === undefined) throw new TypeError(`${method} ${to} was not answered`);
      return answer;
    },
    found(sentence) {
      findings.push(sentence);
      if (sought?.test(sentence)) throw ENOUGH;
    },
    control(holds, sentence) {
      if (!holds) throw new TypeError(`The attack "${attack.name}" cannot work: ${sentence}`);
    },
  };
  try {
    await attack.run(probe);
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  return { findings, tried };
}
