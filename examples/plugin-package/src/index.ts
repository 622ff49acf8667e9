// keelson-plugin-slugs: records get a readable, unique name made from their title.
export { type SlugFieldOptions, slug } from "./slug.ts";
export { type Slugs, type SlugsOptions, slugs } from "./slugs.ts";
