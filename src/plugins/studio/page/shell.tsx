/** @jsxImportSource preact */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { plural, useApp } from "./state/app-context.ts";
import { linkTo, type Place } from "./state/location.ts";
import { currentToken, isVisitor } from "./state/signed-in.ts";
import { keepTheme, keptTheme } from "./state/theme.ts";
import { say } from "./words.ts";

/** From this number of entities on, the menu has a filter. */
const MANY = 20;

interface ShellProps {
  readonly place: Place;
  readonly toast: string;
  readonly onLogout: () => void;
  readonly onVisit: () => void;
  readonly children: ComponentChildren;
}

/** The frame around each screen: the menu, the caller, and messages. */
export function Shell({ place, toast, onLogout, onVisit, children }: ShellProps): VNode {
  const { app } = useApp();
  const [isOpen, setOpen] = useState(false);
  const content = useRef<HTMLElement>(null);
  const here = place.path.join("/");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new screen starts at its top, with the menu closed
  useEffect(() => {
    setOpen(false);
    scrollTo(0, 0);
    document.title = `${place.path[0] ?? say("home")} · ${app.title}`;
  }, [here]);
  const [wanted, setWanted] = useState("");
  const usable = app.entities.filter(({ rights }) => rights.list !== undefined || rights.create !== undefined);
  const found = usable.filter((entity) => plural(entity).toLowerCase().includes(wanted.toLowerCase()));
  const item = (path: readonly string[], text: string): VNode => (
    <li key={text}>
      <a href={linkTo(path)} aria-current={place.path[0] === path[0] ? "page" : undefined}>
        {text}
      </a>
    </li>
  );
  return (
    <div class={isOpen ? "shell open" : "shell"}>
      <button type="button" class="skip" onClick={() => content.current?.focus()}>
        {say("skip")}
      </button>
      <header class="head">
        <button
          type="button"
          class="burger quiet"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          ☰ <span class="hidden">{say("menu")}</span>
        </button>
        <a class="brand" href="#/">
          {app.title}
        </a>
        <div class="tools">
          <ThemeChoice />
          <Caller onLogout={onLogout} onVisit={onVisit} />
        </div>
      </header>
      <nav id="menu" class="side" aria-label={say("menu")}>
        <h2>{say("data")}</h2>
        {usable.length > MANY && (
          <input
            type="search"
            aria-label={say("filterMenu")}
            placeholder={say("filterMenu")}
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        <ul>
          {found.map((entity) =>
            item(entity.rights.list === undefined ? [entity.path, "!new"] : [entity.path], plural(entity)),
          )}
        </ul>
        <h2>{say("system")}</h2>
        <ul>
          {item(["!operations"], say("operations"))}
          {item(["!rights"], say("rights"))}
        </ul>
      </nav>
      <main id="content" ref={content} tabIndex={-1}>
        {(isVisitor() || app.viewedAs !== undefined) && (
          <p class="note">
            {app.viewedAs === undefined ? say("viewing") : say("viewingAs", { id: app.viewedAs })}{" "}
            <button type="button" class="quiet" onClick={onVisit}>
              {say("viewAsEnd")}
            </button>
          </p>
        )}
        {children}
      </main>
      <div class={toast === "" ? "toast" : "toast shown"} role="status">
        {toast}
      </div>
    </div>
  );
}

/** The caller, as the app sees it. */
function Caller({ onLogout, onVisit }: Pick<ShellProps, "onLogout" | "onVisit">): VNode {
  const { caller, viewedAs } = useApp().app;
  const isUser = caller.kind === "user";
  return (
    <>
      <span class="caller">{isUser ? caller.id : say("anonymous")}</span>
      {isUser && viewedAs === undefined && (
        <button type="button" class="quiet wide-only" onClick={onVisit}>
          {say("viewAs")}
        </button>
      )}
      {currentToken() === undefined ? (
        !isVisitor() &&
        !isUser && (
          <a class="button" href={linkTo(["!login"])}>
            {say("login")}
          </a>
        )
      ) : (
        <button type="button" onClick={onLogout}>
          {say("logout")}
        </button>
      )}
    </>
  );
}

/** The choice of the theme: light, dark, or the system's setting. It is stored in the browser. */
function ThemeChoice(): VNode {
  const [theme, setTheme] = useState(keptTheme());
  return (
    <select
      class="theme"
      aria-label={say("theme")}
      value={theme}
      onChange={(event) => {
        keepTheme(event.currentTarget.value);
        setTheme(event.currentTarget.value);
      }}
    >
      <option value="">{say("system")}</option>
      <option value="light">{say("light")}</option>
      <option value="dark">{say("dark")}</option>
    </select>
  );
}
