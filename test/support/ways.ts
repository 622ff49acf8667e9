/** Traces requests through the source, with a probe at the beginning of each function. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { builtOnce } from "./built-once.ts";
import { repositoryRoot, sourceFiles } from "./source-files.ts";

/** A function that was entered. */
export interface Entered {
  /** Below src/. */
  readonly file: string;
  /** Empty for functions without one. */
  readonly name: string;
}

/** The function's name in the source. */
function nameOf(node: ts.Node): string {
  if ((ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isAccessor(node)) && node.name)
    return node.name.getText();
  const { parent } = node;
  if ((ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && ts.isIdentifier(parent.name))
    return parent.name.text;
  return "";
}

/** A call of the probe at the beginning of each function. */
function withProbes(path: string): ts.TransformerFactory<ts.SourceFile> {
  const { factory } = ts;
  const probe = (name: string): ts.Expression =>
    factory.createCallExpression(factory.createIdentifier("globalThis.__entered"), undefined, [
      factory.createStringLiteral(path),
      factory.createStringLiteral(name),
    ]);
  return (context) => {
    const visit = (node: ts.Node): ts.Node => {
      const seen = ts.visitEachChild(node, visit, context);
      if (ts.isArrowFunction(seen) && !ts.isBlock(seen.body)) {
        const body = factory.createParenthesizedExpression(factory.createComma(probe(nameOf(node)), seen.body));
        const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken: arrow } = seen;
        return factory.updateArrowFunction(seen, modifiers, typeParameters, parameters, type, arrow, body);
      }
      if (ts.isBlock(seen) && ts.isFunctionLike(node.parent) && !ts.isConstructorDeclaration(node.parent))
        return factory.updateBlock(seen, [
          factory.createExpressionStatement(probe(nameOf(node.parent))),
          ...seen.statements,
        ]);
      return seen;
    };
    return (source) => ts.visitNode(source, visit, ts.isSourceFile);
  };
}

/** Writes the source that `src/index.ts` loads into a folder, as JavaScript with probes. */
async function compileWithProbes(folder: string): Promise<void> {
  const compilerOptions: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    rewriteRelativeImportExtensions: true,
    verbatimModuleSyntax: true,
    experimentalDecorators: true,
  };
  const loaded = new Set(["src/index.ts"]);
  // A set's loop also visits what is added during it.
  for (const path of loaded) {
    const text = await readFile(join(repositoryRoot, path), "utf8");
    const transformers = { before: [withProbes(path.replace(/^src\//, ""))] };
    const { outputText } = ts.transpileModule(text, { fileName: path, compilerOptions, transformers });
    const out = join(folder, path.replace(/\.ts$/, ".js"));
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, outputText);
    for (const { fileName } of ts.preProcessFile(outputText).importedFiles)
      if (fileName.startsWith(".")) loaded.add(posix.join(posix.dirname(path), fileName.replace(/\.js$/, ".ts")));
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
}

/** Functions that repeated requests enter, when everything is compiled and cached, by the request's name. */
export async function walk(): Promise<Readonly<Record<string, readonly Entered[]>>> {
  const sources = sourceFiles("", (path) => path.startsWith("src/") || path === "test/support/ways.ts");
  const folder = await builtOnce("ways", sources, compileWithProbes);
  try {
    let order: Entered[] = [];
    Object.assign(globalThis, { __entered: (file: string, name: string) => void order.push({ file, name }) });
    const library = (await import(
      pathToFileURL(join(folder, "src/index.js")).href
    )) as typeof import("../../src/index.ts");
    const { belongsTo, entity, hasMany, int, keelson, memoryDriver, noopLogger, string } = library;
    const user = entity("user", { name: string, posts: hasMany(() => post) })
      .ownedBy("id")
      .rules({ read: ["everyone"] });
    const post = entity("post", { title: string, views: int.default(0), author: belongsTo(() => user) })
      .ownedBy("author")
      .rules({ read: ["everyone"], update: ["owner"] });
    const api = keelson({
      entities: [user, post],
      driver: memoryDriver(),
      logger: noopLogger,
      getUser: () => ({ id: "ann" }),
    });
    await api.ready;
    await api.asSystem().user.create({ id: "ann", name: "Ann" });
    await api.asSystem().post.create({ id: "p", title: "One", authorId: "ann" });
    const body = JSON.stringify({ title: "Two", views: 1 });
    const put = { method: "PUT", body, headers: { "content-type": "application/json" } };
    const ask = async (path: string, init?: RequestInit): Promise<readonly Entered[]> => {
      for (let round = 0; round < 3; round += 1) {
        order = [];
        const response = await api.fetch(new Request(`http://house.invalid${path}`, init));
        if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        await response.text();
      }
      return [...order];
    };
    const ways = {
      "GET one": await ask("/api/posts/p"),
      "list with include": await ask("/api/posts?include=author"),
      "PUT under owner": await ask("/api/posts/p", put),
    };
    await api.close();
    return ways;
  } finally {
    Object.assign(globalThis, { __entered: () => undefined });
  }
}

/** A trace as text: files in order of first entry, with the functions entered in them. */
export function wayText(entered: readonly Entered[]): string {
  const files = new Map<string, Set<string>>();
  for (const { file, name } of entered) {
    const functions = files.get(file) ?? new Set();
    files.set(file, functions);
    if (name !== "") functions.add(name);
  }
  return [...files].map(([file, functions]) => `${file}: ${[...functions].join(" ")}`.replace(/: $/, "")).join("\n");
}

/** The page whose text blocks, in this order, are the traces of these requests. */
export const PAGE = "docs/architecture.md";
const BLOCK = /(?<=^```text way\n)[\s\S]*?(?=\n```$)/gm;

/** The page with the current traces. */
export function withWays(page: string, ways: Readonly<Record<string, readonly Entered[]>>): string {
  const texts = Object.values(ways).map(wayText);
  return page.replace(BLOCK, () => texts.shift() ?? "");
}
