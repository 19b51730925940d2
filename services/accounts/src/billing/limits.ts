// Limits of billing, with the reason for each.

export const stripeMs = 10_000; // for one request; a checkout session takes Stripe about a second
export const stripeRetries = 2; // by the SDK, with an Idempotency-Key that makes them safe
export const webhookBytes = 256 * 1024; // Stripe's events have 5 to 50 KB
export const webhooksPerMinute = 1_000; // from one of Stripe's addresses, at the start of a month
export const syncAttempts = 5; // one customer's events come in bursts, and each makes the others read again
export const subscriptionsPerCustomer = 100; // one page of Stripe's list; ours have one
export const checkoutsPerCustomer = 100; // likewise: each new one closes the earlier ones
