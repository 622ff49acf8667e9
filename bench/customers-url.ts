/** Where the service of `customers.ts` listens. Servers that are not asked for `remote` run without it. */
export const customersUrl = (): string => process.env.BENCH_CUSTOMERS_URL ?? "http://127.0.0.1:9/api";
