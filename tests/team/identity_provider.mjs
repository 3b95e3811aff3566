// A real identity provider on loopback: node identity_provider.mjs MODULE PEOPLE.json
//
// Prints its address, and serves until its input ends. PEOPLE.json has the claims of each person by name, and is read
// anew each time: whoever is not in it (any more) cannot sign on. Every password is right.

import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [module, people] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(module));
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = { ...privateKey.export({ format: "jwk" }), kid: "first", use: "sig", alg: "ES256" };
const device = "urn:ietf:params:oauth:grant-type:device_code";
const client = {
  application_type: "native",
  grant_types: ["authorization_code", device],
  id_token_signed_response_alg: "ES256",
  redirect_uris: ["http://127.0.0.1/sign-on"],
  response_types: ["code"],
};

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    claims: { email: ["email", "email_verified"], groups: ["groups"], openid: ["sub"] },
    clients: [
      { ...client, client_id: "palazzo", token_endpoint_auth_method: "none" },
      { ...client, client_id: "confidential", client_secret: "s3cret" },
    ],
    conformIdTokenClaims: false, // as most providers do: the address is in the ID token
    cookies: { keys: ["tests"] },
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_, id) => {
      const claims = JSON.parse(readFileSync(people, "utf8"))[id];
      return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) };
    },
    jwks: { keys: [key] },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.on("end", () => process.exit()).resume();
