import type { IncomingMessage } from "node:http";
import {
  AuthenticationBaseStrategy,
  type AuthenticationRequest,
  AuthenticationService,
} from "@feathersjs/authentication";
import { NotAuthenticated } from "@feathersjs/errors";
import { callers } from "../../seed.ts";
import type { Application } from "./declarations.ts";

/** Known bearer tokens, instead of the JSON web tokens that the CLI sets up: what every contender authenticates with. */
class TokenStrategy extends AuthenticationBaseStrategy {
  async parse(request: IncomingMessage): Promise<AuthenticationRequest | null> {
    const header = request.headers.authorization;
    return header?.startsWith("Bearer ") ? { strategy: this.name as string, accessToken: header.slice(7) } : null;
  }

  async authenticate({ accessToken }: AuthenticationRequest) {
    const user = callers.get(accessToken as string);
    if (!user) throw new NotAuthenticated("Invalid token");
    return { authentication: { strategy: this.name }, user };
  }
}

/** Sets up the authentication service. */
export function authentication(app: Application): void {
  app.set("authentication", { entity: null, secret: "never used: nobody signs", authStrategies: ["token"] });
  const service = new AuthenticationService(app);
  service.register("token", new TokenStrategy());
  app.use("authentication", service);
}
