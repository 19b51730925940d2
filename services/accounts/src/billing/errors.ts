import { defineErrors } from '@stak/kit';

export const billingErrors = defineErrors({
  'accounts.plan_not_sold': 400,
  'accounts.event_unreadable': 400,
  'accounts.already_subscribed': 409,
  'accounts.nothing_billed': 409,
  'accounts.billing_not_configured': 501,
  'accounts.billing_failed': 502,
  'accounts.billing_busy': 503,
});

export const refuse = billingErrors.create;
