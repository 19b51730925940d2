import { plans } from '@stak/accounts';

// The `stak` command, without the limits of a plan: a month's events go by in a minute. Its workers run this as well.
Object.assign(plans.free, { eventsPerMinute: 1e9, eventsPerMonth: 1e12 });
await import('../../src/main.ts');
