import { type Clock, createTimedCache } from '@stak/kit';
import type { Configuration, CustomFetch } from 'openid-client';
import { isLoopback } from '../../loopback.ts';
import * as limits from './limits.ts';
import { type Provider, providerTitles } from './provider.ts';
import { boundedFetch, explainProvider, loadClient } from './provider-client.ts';

export type GoogleSettings = {
  clientId: string;
  clientSecret: string;
  issuer?: string;
  timeoutMs?: number;
};

type OpenidSettings = Required<Pick<GoogleSettings, 'clientId' | 'clientSecret' | 'issuer'>> & {
  title: string; // for error messages
  timeoutMs?: number;
  fetch?: CustomFetch; // a guarded one if a customer chose the issuer
};

// `check` only loads the discovery document.
export type OpenidProvider = Provider & { check(): Promise<void> };

export const createGoogle = (
  deps: { clock: Clock },
  { issuer = 'https://accounts.google.com', ...settings }: GoogleSettings,
): Provider => createOpenid(deps, { ...settings, issuer, title: providerTitles.google });

// Endpoints come from the discovery document. The person comes from the ID token: openid-client verifies its issuer,
// audience, time and nonce, and its signature with a public key of the issuer. It would otherwise rely on TLS alone.
export function createOpenid({ clock }: { clock: Clock }, settings: OpenidSettings): OpenidProvider {
  const { clientId, clientSecret, issuer, title, fetch = boundedFetch } = settings;
  const configurations = createTimedCache<Configuration>({ clock, most: 1, forMs: limits.discoveryMs });

  const discover = async (): Promise<Configuration> => {
    const client = await loadClient();
    const configuration = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: (settings.timeoutMs ?? limits.providerMs) / 1000,
      [client.customFetch]: fetch,
      execute: [
        client.enableNonRepudiationChecks,
        ...(isLoopback(issuer) ? [client.allowInsecureRequests] : []),
      ],
    });
    if (configuration.serverMetadata().jwks_uri === undefined)
      throw new Error('The issuer has no "jwks_uri", so its ID tokens cannot be verified.');
    return configuration;
  };

  // A failed discovery is not cached: the next sign-in tries again.
  const configured = (): Promise<Configuration> => configurations.load('configuration', discover);

  return {
    async check() {
      await configured();
    },
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
        const { sub, azp, email, email_verified, name } = tokens.claims()!;
        // The client checks this only if a token has several audiences.
        if (azp !== undefined && azp !== clientId)
          throw new Error('The ID token was issued to another client.');
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
