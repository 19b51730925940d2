import type Stripe from 'stripe';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';
import type { Prices } from './plans.ts';

export type StripeSettings = {
  secretKey: string;
  webhookSecret: string;
  prices: Prices;
  url?: string; // of a fake Stripe API, in tests
};

export type StripeClient = {
  readonly settings: StripeSettings;
  // Calls Stripe. Any failure becomes one problem for the caller; the cause goes to the log.
  call<T>(use: (stripe: Stripe) => Promise<T>): Promise<T>;
  load(): Promise<Stripe>;
};

// Every billing operation goes through this client. Throws if billing is not configured.
export function openStripe(settings: StripeSettings | undefined): () => StripeClient {
  if (!settings)
    return () => {
      throw refuse('accounts.billing_not_configured', 'This server sells nothing: it has no Stripe key.');
    };
  let loading: Promise<Stripe> | undefined;
  const load = () => {
    loading ??= loadStripe(settings);
    return loading;
  };
  const client: StripeClient = {
    settings,
    load,
    async call(use) {
      try {
        return await use(await load());
      } catch (error) {
        throw refuse(
          'accounts.billing_failed',
          'Stripe did not respond as expected. Try again later.',
          {},
          error,
        );
      }
    },
  };
  return () => client;
}

// The SDK takes 20 MB of memory, so it is loaded on first use.
async function loadStripe({ secretKey, url }: StripeSettings): Promise<Stripe> {
  const { default: StripeSdk } = await import('stripe');
  return new StripeSdk(secretKey, {
    timeout: limits.stripeMs,
    maxNetworkRetries: limits.stripeRetries,
    telemetry: false,
    ...(url !== undefined && addressOf(new URL(url))),
  });
}

const addressOf = ({ protocol, hostname, port }: URL) => ({
  protocol: protocol === 'http:' ? ('http' as const) : ('https' as const),
  host: hostname,
  port: port || undefined,
});
