/**
 * Starts Swagger UI. What the document shows depends on who reads it, so whoever logs in on the page gets theirs: it is
 * loaded again, with what they have entered. Nothing of that is kept when the page is left, and no validator elsewhere is
 * asked about the document. A list has a parameter for each operator of each field, several hundred of them: the page shows
 * what every list takes and the fields first, and the others to whoever asks for them.
 */
export const START_SCRIPT = `"use strict";
(() => {
  const place = document.getElementById("swagger-ui");
  const url = new URL(place.dataset.document, location.href).href;

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
    system.specActions.download(url);
    return result;
  };

  const SUFFIX = /_(ne|gt|gte|lt|lte|in|nin|like|starts|ends|null)$/;

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

  const ui = SwaggerUIBundle({
    url,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [
      () => ({ statePlugins: { auth: { wrapActions: { authorize: reloads, logout: reloads } } } }),
      () => ({ wrapComponents: { parameters: foldsFilters } }),
    ],
    requestInterceptor: (request) => {
      if (request.loadSpec && window.ui) Object.assign(request.headers, credentials());
      return request;
    },
  });
  window.ui = ui;
})();
`;
