import { accounts } from "keelson/better-auth";
import { user } from "./entities/user.ts";

/**
 * Sign-up, sign-in and sessions below /auth. Mail is written to the log until `mail` has a transport; social providers and plugins
 * of better-auth go into `betterAuth`.
 */
export const logins = accounts({
  // What browsers see. In production: APP_URL=https://…
  baseUrl: process.env.APP_URL ?? `http://localhost:${process.env.PORT ?? 3000}`,
  secret: process.env.AUTH_SECRET ?? "",
  entities: [user],
});
