import type { Provider } from "../../../entity/index.ts";

/** Any driver adapter of Prisma 7, as `new PrismaClient({ adapter })` takes it. */
export interface AnyAdapterFactory {
  readonly provider: string;
  readonly adapterName: string;
  connect(): Promise<object>;
}

/** Prisma's words for the databases that a driver serves. */
export const ADAPTER_PROVIDERS: Readonly<Record<string, Provider>> = Object.freeze({
  postgres: "postgresql",
  sqlite: "sqlite",
  mysql: "mysql",
});
