import { SUFFIXES } from "../../entity/index.ts";

/**
 * Starts Swagger UI. The document depends on its reader, so it is loaded again with the reader's credentials after a
 * login on the page: with “Authorize”, or by executing a route whose last segment is `login` or `sign-in`. The tab
 * keeps tokens and keys until logout, but no passwords. No external validator receives the document. A list has a
 * parameter for each operator of each field, often several hundred: the page first shows the common parameters and the
 * fields, and the others on request.
 */
export const START_SCRIPT = `"use strict";
(() => {
  const place = document.getElementById("swagger-ui");
  const url = new URL(place.dataset.document, location.href).href;
  const storageKey = "keelson.docs " + url;

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", paint);
  paint();

  const credentials = () => {
    const headers = {};
    for (const { schema, value } of Object.values(ui.authSelectors.authorized().toJS())) {
      if (schema.type === "http" && schema.scheme.toLowerCase() === "bearer") headers.Authorization = "Bearer " + value;
      else if (schema.type === "http" && schema.scheme.toLowerCase() === "basic")
        headers.Authorization = "Basic " + btoa(value.username + ":" + value.password);
      else if (schema.type === "apiKey" && schema.in === "header") headers[schema.name] = value;
    }
    return headers;
  };

  const reloads = (original, system) => (payload) => {
    const result = original(payload);
    const given = Object.entries(ui.authSelectors.authorized().toJS());
    const kept = Object.fromEntries(given.filter(([, { schema }]) => schema.scheme?.toLowerCase() !== "basic"));
    if (Object.keys(kept).length > 0) sessionStorage.setItem(storageKey, JSON.stringify(kept));
    else sessionStorage.removeItem(storageKey);
    system.specActions.download(url);
    return result;
  };

  let isRestored = false;
  const restore = () => {
    if (isRestored) return;
    isRestored = true;
    const kept = sessionStorage.getItem(storageKey);
    if (kept !== null) ui.authActions.authorize(JSON.parse(kept));
  };

  const LOGIN = /\\/(log-?in|sign-?in)(\\/[^/]+)?$/;
  const logsIn = (response) => {
    if (!response.ok || response.headers === undefined || !LOGIN.test(new URL(response.url).pathname)) return response;
    const { token } = response.obj ?? response.body ?? {};
    const schemes = Object.entries(ui.specSelectors.securityDefinitions()?.toJS() ?? {});
    const bearer = schemes.find(([, { type, scheme }]) => type === "http" && scheme.toLowerCase() === "bearer");
    if (typeof token === "string" && bearer !== undefined)
      ui.authActions.authorize({ [bearer[0]]: { name: bearer[0], schema: bearer[1], value: token } });
    else ui.specActions.download(url); // a cookie tells who calls
    return response;
  };

  const SUFFIX = /_(${SUFFIXES.join("|")})$/;

  const sorted = (parameters) => {
    const names = new Set(parameters.map((parameter) => parameter.get("name")));
    const isOperator = (name) => name.includes(".") || (SUFFIX.test(name) && names.has(name.replace(SUFFIX, "")));
    const fields = new Set([...names].map(String).filter(isOperator).map((name) => name.replace(SUFFIX, "")));
    const rank = (parameter) => {
      const name = String(parameter.get("name"));
      return isOperator(name) ? 2 : fields.has(name) ? 1 : 0;
    };
    const order = parameters.sortBy(rank);
    return { order, first: order.filter((parameter) => rank(parameter) < 2) };
  };

  const foldsFilters = (Original, { React }) =>
    function Parameters(props) {
      const [isOpen, setOpen] = React.useState(false);
      const { order, first } = sorted(props.parameters);
      if (order.size - first.size < 20) return React.createElement(Original, props);
      const text = isOpen ? "Show fewer filters" : "Show " + (order.size - first.size) + " more filters";
      const toggle = { className: "btn more-filters", onClick: () => setOpen(!isOpen), type: "button" };
      return React.createElement(
        "div",
        null,
        React.createElement(Original, { ...props, parameters: isOpen ? order : first }),
        React.createElement("button", toggle, text),
      );
    };

  // A link within a button cannot be reached with the keyboard; the button changes the address itself.
  const plainLinks = (_Original, { React }) => (props) => React.createElement("span", null, props.text);

  // What Swagger UI leaves without a name, or gives a role that misleads screen readers.
  const set = (selector, attribute, value) => {
    for (const element of document.querySelectorAll(selector)) {
      const wanted = typeof value === "function" ? value(element) : value;
      if (wanted === null) element.removeAttribute(attribute);
      else if (element.getAttribute(attribute) !== wanted) element.setAttribute(attribute, wanted);
    }
  };
  const nameOf = (element) =>
    element.closest("[data-param-name]")?.dataset.paramName ??
    element.closest(".servers, .content-type-wrapper, .auth-container")?.querySelector("label, h4, small")?.textContent.trim() ??
    (element.closest(".servers") ? "Server" : element.closest(".responses-wrapper") ? "Media type" : "Request body");
  const REGIONS = {
    ".information-container": "About this API",
    ".scheme-container": "Server and login",
    ".filter": "Filter",
    ".models": "Schemas",
    ".modal-ux": "Login",
  };
  const mend = () => {
    for (const [selector, name] of Object.entries(REGIONS)) {
      set(selector, "role", "region");
      set(selector, "aria-label", name);
    }
    set("h3", "aria-level", "2");
    set("h4", "aria-level", "3");
    set("h5", "aria-level", "4");
    set("select", "aria-label", nameOf);
    set("input, textarea", "aria-label", (element) => (element.labels.length > 0 ? null : nameOf(element)));
    set(".close-modal", "aria-label", "Close");
    set(".modal-btn", "aria-label", null);
    set("table[role]", "role", null);
    set("pre, .table-container, .responses-inner", "tabindex", "0");
  };
  let isDue = false;
  new MutationObserver(() => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      mend();
    });
  }).observe(place, { childList: true, subtree: true });

  const ui = SwaggerUIBundle({
    url,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    filter: true,
    syntaxHighlight: { theme: "tomorrow-night" },
    onComplete: restore,
    responseInterceptor: logsIn,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [
      () => ({ statePlugins: { auth: { wrapActions: { authorize: reloads, logout: reloads } } } }),
      () => ({ wrapComponents: { parameters: foldsFilters, DeepLink: plainLinks } }),
    ],
    requestInterceptor: (request) => {
      if (request.loadSpec && window.ui) Object.assign(request.headers, credentials());
      return request;
    },
  });
  window.ui = ui;
})();
`;
