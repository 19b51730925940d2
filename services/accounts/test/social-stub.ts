import type { ProviderName } from '../src/people/oauth/provider.ts';
import { createBrowser } from './browser-stub.ts';
import { openGithub } from './github-stub.ts';
import { openGoogle } from './google-stub.ts';
import type { openEmbedded } from './open-accounts.ts';
import { openService, origin } from './service-stub.ts';

// Sign-in through both providers, each a server on this machine.
export async function openSocial({
  timeoutMs,
  open,
}: {
  timeoutMs?: number;
  open?: typeof openEmbedded;
} = {}) {
  const github = await openGithub();
  const google = await openGoogle({ redirectUri: `${origin}/v1/auth/google/callback` });
  const settings = {
    github: { ...github.client, url: github.url, apiUrl: github.url, timeoutMs },
    google: { ...google.client, issuer: google.url, timeoutMs },
  };
  const service = await openService(settings, open);
  const site = { origin, request: service.request };
  const browserOf = (person?: string) => createBrowser(site, person);
  let people = 0;

  return {
    ...service,
    github,
    google,
    browserOf,
    // A whole sign-in, and what its callback answers.
    async signIn(provider: ProviderName, person: string): Promise<Response> {
      const browser = browserOf(person);
      return browser.open(await browser.goToCallback(`/v1/auth/${provider}/start`));
    },
    // A new person at a provider, by the name that the browser's header gives.
    meet: {
      github(email: string, verified = true): string {
        const id = ++people;
        const emails = [
          { email: `spare-${id}@x.example`, primary: false, verified: true },
          { email, primary: true, verified },
        ];
        github.people.set(`gh${id}`, { id, login: `login-${id}`, name: null, emails });
        return `gh${id}`;
      },
      google(email: string, verified = true): string {
        const sub = `goog${++people}`;
        google.people.set(sub, { email, email_verified: verified, name: 'Ann Example' });
        return sub;
      },
    },
    async close() {
      await Promise.all([github.close(), google.close(), service.close()]);
    },
  };
}
export type Social = Awaited<ReturnType<typeof openSocial>>;
