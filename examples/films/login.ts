import { AuthenticationError, createPlugin, endpoint, type PasswordHasher, type Plugin, type User } from "keelson";
import { PASSWORD_COST, user } from "./entities/user.ts";
import type { SignToken } from "./tokens.ts";

/**
 * `POST /auth/login` with `email` and `password` answers with a token. What is wrong is not said: neither the answer nor
 * the time it takes tells who has an account. On the internet, limit the attempts as well.
 */
export function login(sign: SignToken): Plugin {
  return createPlugin({
    id: "films/login",
    requires: ["password"],
    endpoints: {
      login: endpoint("/auth/login", {
        method: "POST",
        rules: ["everyone"],
        async handler({ body, scope }) {
          const { email, password } = ((await body()) ?? {}) as Record<string, unknown>;
          const address = String(email).trim().toLowerCase(); // as the field does
          const found = await scope.driver.findOne(user, { email: address });
          const passwords = scope.services.resolve<PasswordHasher>("field-security.passwords");
          // Without a user it does the work all the same, and says no.
          const isRight = await passwords.verify(password, found?.password as string | undefined, {
            cost: PASSWORD_COST,
          });
          if (found === null || !isRight) throw new AuthenticationError("E-mail or password is wrong");
          return { token: await sign(found as User) };
        },
      }),
    },
  });
}
