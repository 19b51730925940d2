export const providerNames = ['github', 'google'] as const;
export type ProviderName = (typeof providerNames)[number];
export const providerTitles: Readonly<Record<ProviderName, string>> = { github: 'GitHub', google: 'Google' };

// A person, as a provider knows them.
export type Identity = {
  readonly id: string; // never reused and never changed, unlike names and addresses
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
};

// What one sign-in is bound with. All three come from the browser's cookie.
export type Secrets = { readonly state: string; readonly verifier: string; readonly nonce: string };

export type Provider = {
  // Where the browser goes to sign in.
  authorizationUrl(secrets: Secrets, redirectUri: string): Promise<URL>;
  // Who came back, from the address they came back to.
  identify(callbackUrl: URL, secrets: Secrets): Promise<Identity>;
};
