import { json, nameSchemas, raw, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { returnToChars } from '../people/oauth/limits.ts';
import { planSchema } from '../schema.ts';
import * as limits from './limits.ts';
import { paidPlans } from './plans.ts';
import { outcomes } from './sync.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const off = 'accounts.billing_not_configured';
const returnTo = z
  .string()
  .max(returnToChars)
  .optional()
  .describe('Where to send the browser afterwards: a path on this server, or a URL of an allowed origin');
const page = z.strictObject({ url: z.string().describe('The URL to send the browser to') });
nameSchemas({ BillingPage: page });

export const billingRoutes = {
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/billing',
    operationId: 'accounts.readBilling',
    auth: 'account',
    scope: 'read',
    summary: "Get the account's subscription",
    description: 'Returns the plan, the period that is paid and whether it renews.',
    responses: {
      200: json(
        z.strictObject({
          plan: planSchema,
          status: z.string().optional().describe("Stripe's status of the subscription, such as `past_due`"),
          currentPeriodEnd: z.string().optional(),
          cancelAtPeriodEnd: z.boolean().optional(),
          plansSold: z.array(z.enum(paidPlans)),
        }),
      ),
    },
    problems: [off],
  }),
  checkout: route({
    ...common,
    method: 'post',
    path: '/v1/billing/checkout',
    operationId: 'accounts.startCheckout',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'session',
    scope: 'admin',
    role: 'owner',
    idempotent: true,
    summary: 'Buy a plan',
    description: 'Returns the address of a payment page for the plan.',
    request: { body: json(z.strictObject({ plan: z.enum(paidPlans), return_to: returnTo })) },
    responses: { 201: json(page) },
    problems: [
      off,
      'accounts.plan_not_sold',
      'accounts.already_subscribed',
      'accounts.return_to_refused',
      'accounts.billing_failed',
    ],
  }),
  portal: route({
    ...common,
    method: 'post',
    path: '/v1/billing/portal',
    operationId: 'accounts.openBillingPortal',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'session',
    scope: 'admin',
    role: 'owner',
    summary: "Open Stripe's billing portal to change or cancel the subscription or see invoices",
    description: 'Returns the address of a page to change the plan, cancel it and see invoices.',
    request: { body: json(z.strictObject({ return_to: returnTo })) },
    responses: { 200: json(page) },
    problems: [off, 'accounts.nothing_billed', 'accounts.return_to_refused', 'accounts.billing_failed'],
  }),
  webhook: route({
    ...common,
    method: 'post',
    path: '/v1/billing/webhook',
    operationId: 'accounts.takeStripeEvent',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'provider',
    summary: 'Receive events from Stripe',
    description: 'Takes events of Stripe about payments. Stripe’s signature is checked.',
    request: { body: raw('A Stripe event, signed in `Stripe-Signature`') },
    responses: { 200: json(z.strictObject({ outcome: z.enum(outcomes) })) },
    limits: {
      bodyBytes: limits.webhookBytes,
      rate: { name: 'stripe', limit: limits.webhooksPerMinute, windowMs: 60_000, by: 'address' },
    },
    problems: [off, 'accounts.event_unreadable', 'accounts.billing_failed', 'accounts.billing_busy'],
  }),
} as const;
