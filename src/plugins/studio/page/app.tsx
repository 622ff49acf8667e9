/** @jsxImportSource preact */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AppDocument } from "../app-document.ts";
import type { LoginForm } from "../login.ts";
import { List } from "./list/list.tsx";
import { Lazy } from "./parts/lazy.tsx";
import { Failure, Loading } from "./parts/status.tsx";
import { Create, Edit } from "./record/edit.tsx";
import { Record } from "./record/record.tsx";
import { Home } from "./screens/home.tsx";
import { Login } from "./screens/login.tsx";
import { Shell } from "./shell.tsx";
import { ApiError, call } from "./state/api.ts";
import { AppContext, type AppState, entityAt } from "./state/app-context.ts";
import { goTo, type Place, usePlace } from "./state/location.ts";
import { forgetToken, isVisitor, view, viewedPath, visit } from "./state/signed-in.ts";
import { useRequest } from "./state/use-request.ts";
import { say } from "./words.ts";

/** Data that the HTML passes to the page. */
export interface Given {
  /** Address of the description of the app. */
  readonly app: string;
  readonly login?: LoginForm;
  readonly words: Readonly<Record<string, string>>;
}

/** The whole page. It loads the description of the app for the caller and shows the screen named by the address. */
export function App({ given }: { readonly given: Given }): VNode {
  const place = usePlace();
  const [round, setRound] = useState(0);
  const [toast, tell] = useToast();
  const loaded = useRequest(
    `app ${round}`,
    async (signal) => (await call<AppDocument>(viewedPath() ?? given.app, { signal })).data,
  );
  const restart = useMemo(() => (): void => setRound((now) => now + 1), []);
  const { data: app, error, isLoading } = loaded;
  const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403);
  if (isRefused || place.path[0] === "!login")
    return (
      <main id="content" class="plain">
        {isRefused && place.path[0] !== "!login" && (
          <p class="alert" role="alert">
            {error.message}
          </p>
        )}
        <Login
          form={given.login}
          onLogin={() => {
            if (place.path[0] === "!login") goTo("#/");
            restart();
          }}
        />
      </main>
    );
  if (error !== undefined)
    return (
      <main id="content" class="plain">
        <Failure error={error} onRetry={loaded.reload} title={say("title")} />
      </main>
    );
  if (app === undefined || (isLoading && app === undefined))
    return (
      <main id="content" class="plain">
        <Loading />
      </main>
    );
  const state: AppState = { app, tell, restart };
  return (
    <AppContext.Provider value={state}>
      <Shell
        place={place}
        toast={toast}
        onLogout={() => {
          forgetToken();
          goTo("#/");
          restart();
        }}
        onVisit={() => {
          if (viewedPath() === undefined) visit(!isVisitor());
          view(undefined);
          goTo("#/");
          restart();
        }}
      >
        <Screen place={place} app={app} given={given} />
      </Shell>
    </AppContext.Provider>
  );
}

interface ScreenProps {
  readonly place: Place;
  readonly app: AppDocument;
  readonly given: Given;
}

/** The screen that an address names. The code of less common screens is loaded when they are first shown. */
function Screen({ place, app, given }: ScreenProps): VNode {
  const [first, second, third] = place.path;
  const entity = entityAt(app, first);
  const key = place.path.join("/");
  if (first === undefined) return <Home />;
  if (first === "!operations")
    return (
      <Lazy name="operations" load={async () => (await import("./screens/operations.tsx")).Operations} props={{}} />
    );
  if (first === "!rights")
    return (
      <Lazy
        name="rights"
        load={async () => (await import("./screens/rights.tsx")).RightsScreen}
        props={{ loadAsVisitor: () => asVisitor(given.app) }}
      />
    );
  if (entity === undefined) return <h1>{say("notFound")}</h1>;
  if (second === undefined) return <List key={key} entity={entity} />;
  if (second === "!new") return <Create key={key} entity={entity} />;
  if (second === "!chart")
    return (
      <Lazy
        key={key}
        name="chart"
        load={async () => (await import("./screens/chart.tsx")).ChartScreen}
        props={{ entity }}
      />
    );
  if (second === "!import")
    return (
      <Lazy
        key={key}
        name="import"
        load={async () => (await import("./screens/import.tsx")).ImportScreen}
        props={{ entity }}
      />
    );
  return third === "edit" ? (
    <Edit key={key} entity={entity} id={second} />
  ) : (
    <Record key={key} entity={entity} id={second} />
  );
}

/** The description of the app for a visitor; without entities when the app has no description for visitors. */
async function asVisitor(path: string): Promise<AppDocument> {
  const before = isVisitor();
  visit(true);
  const answer = call<AppDocument>(path);
  visit(before);
  const nothing: Partial<AppDocument> = { entities: [] };
  return await answer.then(
    ({ data }) => data,
    () => nothing as AppDocument,
  );
}

const TOAST_MS = 5_000;

/** A message that is shown for a few seconds. */
function useToast(): readonly [string, (message: string) => void] {
  const [message, setMessage] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = useMemo(
    () =>
      (text: string): void => {
        clearTimeout(timer.current);
        setMessage(text);
        timer.current = setTimeout(() => setMessage(""), TOAST_MS);
      },
    [],
  );
  return [message, tell];
}
