import type { ApiTypes } from '@stak/client';

export type Provider = NonNullable<ApiTypes['webhooks.createSource']['args']['body']['provider']>;

export const providerNames: Readonly<Record<Provider, string>> = {
  custom: 'Custom',
  stripe: 'Stripe',
  github: 'GitHub',
  shopify: 'Shopify',
  slack: 'Slack',
  twilio: 'Twilio',
  sendgrid: 'SendGrid',
  'standard-webhooks': 'Standard Webhooks',
  stak: 'Stak',
};

export const providerChoices = Object.entries(providerNames).map(([value, label]) => ({ value, label }));
