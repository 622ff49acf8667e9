import { AuthenticationError, action, type PasswordHasher, string, type User } from "keelson";
import { signToken } from "./tokens.ts";

/**
 * `POST /api/users/login` with `email` and `password` answers with a token. Neither the answer nor the time it takes tells
 * who has an account. On the internet, limit the attempts as well.
 */
export const login = action()
  .rules("everyone")
  .input({ email: string.trim().lower(), password: string })
  .handler(async ({ input, driver, entity, resolve, signal }) => {
    const found = await driver.findOne(entity, { email: input.email });
    const passwords = resolve<PasswordHasher>("field-security.passwords");
    // Without a user it does the work all the same, and says no.
    const isRight = await passwords.verify(input.password, found?.password as string | undefined, { signal });
    if (found === null || !isRight) throw new AuthenticationError("E-mail or password is wrong");
    return { token: await signToken(found as User) };
  });
