/** @jsxImportSource preact */
import { render } from "preact";
import { App, type Given } from "./app.tsx";
import { setBase } from "./state/api.ts";
import { keepTheme, keptTheme } from "./state/theme.ts";
import { say, translate } from "./words.ts";

/** Starts the page. The HTML contains the address of the app's description and the dictionary. */
function start(element: HTMLElement): void {
  const given = JSON.parse(element.dataset.given ?? "{}") as Given;
  translate(given.words);
  document.documentElement.lang = say("language");
  keepTheme(keptTheme());
  const app = new URL(given.app, location.href).href;
  setBase(app);
  render(<App given={{ ...given, app }} />, element);
}

const element = document.getElementById("studio");
if (element !== null) start(element);
