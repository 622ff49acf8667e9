/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { AppDocument, EntityDescription, Right, Rights } from "../../app-document.ts";
import { Failure, Loading } from "../parts/status.tsx";
import { plural, useApp } from "../state/app-context.ts";
import { useRequest } from "../state/use-request.ts";
import { label, say } from "../words.ts";

const VERBS = ["list", "create", "update", "delete"] as const satisfies readonly (keyof Rights)[];

/** The rights of the caller and of a visitor for each entity. The latter come from the description without a token. */
export function RightsScreen({ loadAsVisitor }: { readonly loadAsVisitor: () => Promise<AppDocument> }): VNode {
  const { app } = useApp();
  const visitor = useRequest("visitor", loadAsVisitor);
  if (visitor.error !== undefined) return <Failure error={visitor.error} onRetry={visitor.reload} />;
  if (visitor.data === undefined) return <Loading />;
  const callers = [
    [say("you"), app],
    [say("visitor"), visitor.data],
  ] as const;
  return (
    <>
      <h1>{say("rights")}</h1>
      <p>{say("rightsHint")}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={say("rights")}>
        <table class="diff matrix">
          <thead>
            <tr>
              <td />
              {callers.map(([name]) => (
                <th key={name} colSpan={VERBS.length} scope="colgroup">
                  {name}
                </th>
              ))}
              {app.caller.isAdmin && (
                <th colSpan={VERBS.length} scope="colgroup">
                  {say("rules")}
                </th>
              )}
            </tr>
            <tr>
              <th>{say("data")}</th>
              {callers.flatMap(([name]) => VERBS.map((verb) => <th key={`${name}-${verb}`}>{label(verb)}</th>))}
              {app.caller.isAdmin && VERBS.map((verb) => <th key={verb}>{label(verb)}</th>)}
            </tr>
          </thead>
          <tbody>
            {app.entities.map((entity) => (
              <tr key={entity.name}>
                <th scope="row">{plural(entity)}</th>
                {callers.flatMap(([name, { entities }]) =>
                  VERBS.map((verb) => <Cell key={`${name}-${verb}`} right={rightOf(entities, entity, verb)} />),
                )}
                {app.caller.isAdmin &&
                  VERBS.map((verb) => <td key={verb}>{entity.rules?.[verb]?.join(", ") || "–"}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function rightOf(
  entities: readonly EntityDescription[],
  { name }: EntityDescription,
  verb: keyof Rights,
): Right | undefined {
  return entities.find((one) => one.name === name)?.rights[verb];
}

const WORDS = { all: "allowedAll", some: "allowedSome" } as const;

function Cell({ right }: { readonly right: Right | undefined }): VNode {
  return (
    <td>
      <span class={right === "all" ? "tag on" : right === "some" ? "tag" : "nothing"}>
        {say(right === undefined ? "allowedNot" : WORDS[right])}
      </span>
    </td>
  );
}
