/** What the page says about its looks on top of Swagger UI: less empty space, and nothing that needs a font. */
export const PAGE_STYLE = `body { margin: 0; }
.swagger-ui .info { margin: 24px 0 8px; }
.swagger-ui .scheme-container { background: none; box-shadow: none; margin: 0; padding: 0; }
.swagger-ui .scheme-container .schemes > .schemes-server-container + .auth-wrapper { margin: 0; }
.swagger-ui .more-filters { margin: 0 20px 20px; }
`;
