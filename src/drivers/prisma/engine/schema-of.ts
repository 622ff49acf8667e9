/** Prisma's way to name a schema in a connection string. */
export function schemaOf(url: string): string {
  try {
    return new URL(url).searchParams.get("schema") ?? "public";
  } catch {
    return "public"; // a socket's path, which the driver of PostgreSQL reads by itself
  }
}
