/**
 * Starts Swagger UI. What the document shows depends on who reads it, so whoever logs in on the page gets theirs: it is
 * loaded again, with what they have entered. Nothing of that is kept when the page is left, and no validator elsewhere is
 * asked about the document.
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

  const ui = SwaggerUIBundle({
    url,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [
      () => ({ statePlugins: { auth: { wrapActions: { authorize: reloads, logout: reloads } } } }),
    ],
    requestInterceptor: (request) => {
      if (request.loadSpec && window.ui) Object.assign(request.headers, credentials());
      return request;
    },
  });
  window.ui = ui;
})();
`;
