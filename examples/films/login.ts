import { AuthenticationError, action, type PasswordHasher, string, type User } from "keelson";
import type { SignToken } from "./tokens.ts";

/** A quarter of the usual cost: still safe, and the demo starts quickly. */
export const PASSWORD_COST = 8;

/** Name of the service that signs tokens; the app registers it. */
export const SIGN_TOKEN = "films.signToken";

/**
 * `POST /users/login` with `email` and `password` returns a token. Neither the response nor its time reveals which
 * accounts exist. On the internet, limit the attempts as well.
 */
export const login = action()
  .rules("everyone")
  .input({ email: string.trim().lower(), password: string })
  .meta({ summary: "Exchange the password for a token" })
  .handler(async ({ input, driver, entity, resolve, signal }) => {
    const found = await driver.findOne(entity, { email: input.email });
    const passwords = resolve<PasswordHasher>("field-security.passwords");
    // Without a user, `verify` does the same work and returns false.
    const stored = found?.password as string | undefined;
    const isRight = await passwords.verify(input.password, stored, { cost: PASSWORD_COST, signal });
    if (found === null || !isRight) throw new AuthenticationError("E-mail or password is wrong");
    return { token: await resolve<SignToken>(SIGN_TOKEN)(found as User) };
  });
