import type Stripe from 'stripe';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';
import type { Prices } from './plans.ts';

export type StripeSettings = {
  secretKey: string;
  webhookSecret: string;
  prices: Prices;
  url?: string; // of a stand-in for Stripe's API, in tests
};

export type StripeDoor = {
  readonly settings: StripeSettings;
  // Calls Stripe; what it refuses or fails at is one problem to the caller, and the cause is for the log.
  call<T>(use: (stripe: Stripe) => Promise<T>): Promise<T>;
  load(): Promise<Stripe>;
};

// Every operation of billing goes through here; without settings there is none.
export function openStripe(settings: StripeSettings | undefined): () => StripeDoor {
  if (!settings)
    return () => {
      throw refuse('accounts.billing_not_configured', 'This server sells nothing: it has no Stripe key.');
    };
  let loading: Promise<Stripe> | undefined;
  const load = () => {
    loading ??= loadStripe(settings);
    return loading;
  };
  const door: StripeDoor = {
    settings,
    load,
    async call(use) {
      try {
        return await use(await load());
      } catch (error) {
        throw refuse(
          'accounts.billing_failed',
          'Stripe does not answer as it should. Try again later.',
          {},
          error,
        );
      }
    },
  };
  return () => door;
}

// The SDK takes 20 MB: it is loaded by the first who needs it.
async function loadStripe({ secretKey, url }: StripeSettings): Promise<Stripe> {
  const { default: StripeClient } = await import('stripe');
  return new StripeClient(secretKey, {
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
