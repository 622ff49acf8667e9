// Files are records with rules, and their bytes are in a store: `POST /api/files/content?name=…` uploads one,
// `GET /api/files/:id/content` downloads it.
import { randomUUID } from "node:crypto";
import { EntityNotFoundError, type EntityRulesInput, entity, int, schemaFromEntities, string } from "keelson";
import { BadRequestError, createPluginFactory, Reply, type RouteContext } from "keelson/plugin";
import { diskStore, type FileStore } from "./stores.ts";

export { diskStore, type FileStore, s3Store } from "./stores.ts";

/** Options of {@link files}. */
export interface FilesOptions {
  /** @default diskStore("files") */
  readonly store: FileStore;
  /** Rules to upload (`create`), read, rename (`update`) and delete. @default all denied */
  readonly rules: EntityRulesInput;
  /** Maximum bytes of a file. @default 10 MiB */
  readonly maxBytes: number;
}

export const files = createPluginFactory<FilesOptions>((options) => {
  const { store = diskStore("files"), rules = {}, maxBytes = 10 * 1024 * 1024 } = options;
  // Callers cannot write the fields that the plugin sets: only an upload creates a record.
  const file = entity("file", {
    name: string,
    type: string.readonly(),
    size: int.readonly(),
    key: string.readonly().omit(),
  })
    .rules(rules)
    .build();
  return {
    id: "example/files",
    requires: ["crud"],
    schema: schemaFromEntities([file]),
    setup({ routes, records }) {
      const shared = { entity: file, body: { as: "raw", bytes: maxBytes }, transactional: false } as const;
      routes.add({
        ...shared,
        method: "POST",
        path: "/files/content",
        action: "upload",
        access: "create",
        async handler(call) {
          const { scope, request, search } = call;
          await scope.access.decide({ kind: "create", entity: file }); // before any byte is read
          const name = new URLSearchParams(search).get("name");
          if (name === null) throw new BadRequestError('An upload has a name, such as "?name=plan.pdf"');
          const bytes = await readBytes(call);
          const type = String(request.headers["content-type"] ?? "application/octet-stream");
          const key = randomUUID();
          await store.put(key, bytes, type);
          try {
            const set = { type, size: bytes.byteLength, key };
            const { records: made } = await scope.run({ kind: "create", entity: file, data: { name }, set });
            return new Reply(201, made[0]);
          } catch (error) {
            await store.delete(key);
            throw error;
          }
        },
      });
      routes.add({
        ...shared,
        method: "GET",
        path: "/files/:id/content",
        action: "download",
        access: "read",
        async handler({ scope, params }) {
          const { records: found } = await scope.run({ kind: "read", entity: file, id: params.id });
          const { key, type, name } = found[0] as unknown as Readonly<Record<"key" | "type" | "name", string>>;
          const bytes = await store.get(key);
          if (bytes === undefined) throw new EntityNotFoundError();
          // An attachment, so that a browser does not run an uploaded file.
          const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
          return new Reply(200, bytes, { "content-type": type, "content-disposition": disposition });
        },
      });
      records.onCommitted(
        async (changes) => {
          for (const { kind, before } of changes) if (kind === "delete") await store.delete(String(before?.key));
        },
        { appliesTo: ({ name }) => name === file.name },
      );
    },
  };
});

/** @throws BadRequestError without a body, PayloadTooLargeError when it has too many bytes */
async function readBytes({ body }: RouteContext): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await body()) as AsyncIterable<Uint8Array>) chunks.push(chunk);
  if (chunks.length === 0) throw new BadRequestError("The body is the file, and is empty");
  return new Uint8Array(Buffer.concat(chunks));
}
