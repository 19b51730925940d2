// The package has no types of its own; these are the parts the tests use.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };
  type Context = {
    oidc: {
      provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant };
      client: { clientId: string };
      session: { accountId: string };
    };
  };

  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: object[];
        jwks: { keys: object[] };
        cookies: { keys: string[] };
        claims: Record<string, string[]>;
        conformIdTokenClaims: boolean;
        features: Record<string, { enabled: boolean }>;
        pkce: { required(): boolean };
        ttl: Record<string, number>;
        interactions: { url(ctx: Context, interaction: { uid: string }): string };
        findAccount(ctx: Context, id: string): { accountId: string; claims(): object };
        loadExistingGrant(ctx: Context): Promise<Grant>;
      },
    );
    callback(): RequestListener;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string } } | { error: string },
    ): Promise<void>;
  }
}
