// What billing may hold, read or wait for, and why it stops where it stops.

export const stripeMs = 10_000; // for one request; a checkout session takes Stripe about a second
export const stripeRetries = 2; // the SDK's own, with an Idempotency-Key that makes them safe
export const webhookBytes = 256 * 1024; // Stripe's events have 5 to 50 KB
export const webhooksPerMinute = 1_000; // from one of Stripe's addresses, at the turn of a month
export const syncAttempts = 5; // events of one customer come in bursts, and each makes the others look again
export const subscriptionsPerCustomer = 100; // one page of Stripe's; ours have one
export const checkoutsPerCustomer = 100; // likewise: each new one closes those before it
