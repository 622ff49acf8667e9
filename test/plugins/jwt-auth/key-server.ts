import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import { onTestFinished } from "vitest";
import { deferred } from "../../support/deferred.ts";

export const ISSUER = "https://issuer.test";
export const AUDIENCE = "films";

/** A key pair with its id. */
export interface SigningKey {
  readonly kid: string;
  readonly jwk: JWK;
  readonly privateJwk: JWK;
  /** A token signed with this key; claims and header override those of a valid token, and undefined removes them. */
  sign(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Claims of a valid token. */
export function goodClaims(): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1_000);
  return { iss: ISSUER, aud: AUDIENCE, sub: "ann", iat: now, exp: now + 60 };
}

export async function signingKey(kid: string, alg = "RS256"): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid };
  return {
    kid,
    jwk,
    privateJwk: { ...(await exportJWK(privateKey)), kid },
    sign: (claims, header) =>
      new SignJWT({ ...goodClaims(), ...claims } as JWTPayload)
        .setProtectedHeader({ alg, kid, ...header } as JWTHeaderParameters)
        .sign(privateKey),
  };
}

/** An issuer's key set over HTTP on a free port; its response can be changed. */
export interface KeyServer {
  readonly address: string;
  keys: readonly JWK[];
  /** With 0, it never responds. */
  status: number;
  /** The body to send in place of the keys. */
  body: string | undefined;
  /** Whether the response stays open after its body, without another byte. */
  endless: boolean;
  /** Requests so far. */
  readonly hits: number;
  /** Resolves when the client has aborted a response. */
  readonly brokenOff: Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function keyServer(...keys: readonly JWK[]): Promise<KeyServer> {
  let hits = 0;
  const brokenOff = deferred<void>();
  let port = 0;
  let server: Server | undefined;
  const self = {
    keys,
    status: 200,
    body: undefined as string | undefined,
    endless: false,
    address: "",
    get hits() {
      return hits;
    },
    brokenOff: brokenOff.promise,
    async stop() {
      server?.closeAllConnections();
      server?.close();
      server = undefined;
    },
    async start() {
      server = createServer((_request, response) => {
        hits++;
        if (self.status === 0) return;
        response.writeHead(self.status, { "content-type": "application/json", connection: "close" });
        response.on("close", () => {
          if (!response.writableFinished) brokenOff.resolve();
        });
        response.write(self.body ?? JSON.stringify({ keys: self.keys }));
        if (!self.endless) response.end();
      }).listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
      self.address = `http://127.0.0.1:${port}/jwks.json`;
    },
  };
  await self.start();
  onTestFinished(() => self.stop());
  return self;
}
