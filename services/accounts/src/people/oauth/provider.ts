export const providerNames = ['github', 'google'] as const;
export type ProviderName = (typeof providerNames)[number];
export const providerTitles: Readonly<Record<ProviderName, string>> = { github: 'GitHub', google: 'Google' };

// A person at a provider.
export type Identity = {
  readonly id: string; // never changed or reused, unlike names and addresses
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
};

// Bind one sign-in to one browser: all three are derived from its cookie.
export type Secrets = { readonly state: string; readonly verifier: string; readonly nonce: string };

export type Provider = {
  // The address at which the person signs in.
  authorizationUrl(secrets: Secrets, redirectUri: string): Promise<URL>;
  // Verifies the callback and returns the person who signed in.
  identify(callbackUrl: URL, secrets: Secrets): Promise<Identity>;
};
