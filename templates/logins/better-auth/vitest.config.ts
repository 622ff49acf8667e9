import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Hashing a password is meant to take its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Secrets of the tests; those of the app are in .env.
    env: { AUTH_SECRET: "a secret that is for the tests only" },
  },
});
