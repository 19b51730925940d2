import type { Clock } from '@stak/kit';
import type { Configuration } from 'openid-client';
import * as limits from './limits.ts';
import { type Provider, providerTitles } from './provider.ts';
import { boundedFetch, explainProvider, isLoopback, loadClient } from './provider-client.ts';

export type GoogleSettings = {
  clientId: string;
  clientSecret: string;
  issuer?: string;
  timeoutMs?: number;
};

const title = providerTitles.google;

// OpenID Connect: the addresses are discovered, and who signed in stands in a signed token that is checked for its
// issuer, audience, signature, time and nonce.
export function createGoogle({ clock }: { clock: Clock }, settings: GoogleSettings): Provider {
  const { clientId, clientSecret, issuer = 'https://accounts.google.com' } = settings;
  let known: { configuration: Promise<Configuration>; untilMs: number } | undefined;

  const discover = async (): Promise<Configuration> => {
    const client = await loadClient();
    return client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: (settings.timeoutMs ?? limits.providerMs) / 1000,
      [client.customFetch]: boundedFetch,
      ...(isLoopback(issuer) && { execute: [client.allowInsecureRequests] }),
    });
  };

  const configured = (): Promise<Configuration> => {
    if (known && clock.now() < known.untilMs) return known.configuration;
    const made = { configuration: discover(), untilMs: clock.now() + limits.discoveryMs };
    known = made;
    // A provider that was down is asked again by the next one who signs in.
    made.configuration.catch(() => {
      if (known === made) known = undefined;
    });
    return made.configuration;
  };

  return {
    async authorizationUrl({ state, verifier, nonce }, redirectUri) {
      const client = await loadClient();
      try {
        return client.buildAuthorizationUrl(await configured(), {
          redirect_uri: redirectUri,
          scope: 'openid email profile',
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        });
      } catch (error) {
        throw explainProvider(client, title, error);
      }
    },
    async identify(callbackUrl, { state, verifier, nonce }) {
      const client = await loadClient();
      try {
        const tokens = await client.authorizationCodeGrant(await configured(), callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const { sub, email, email_verified, name } = tokens.claims()!;
        return {
          id: sub,
          email: typeof email === 'string' ? email : undefined,
          isEmailVerified: email_verified === true,
          name: typeof name === 'string' ? name : undefined,
        };
      } catch (error) {
        throw explainProvider(client, title, error);
      }
    },
  };
}
