import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isOneLine } from '@stak/kit';
import { light } from '@stak/kit/identity';
import { z } from 'zod';
import type { ServerConfig, StoreConfig, Variables } from './config.ts';
import { UsageError } from './errors.ts';

// Configuration of other services: sign-in providers, billing and mail.

export function readIntegrations(data: Variables): Pick<ServerConfig, 'github' | 'google' | 'stripe'> {
  const github = allOrNone(data, ['STAK_GITHUB_CLIENT_ID', 'STAK_GITHUB_CLIENT_SECRET']);
  const google = allOrNone(data, ['STAK_GOOGLE_CLIENT_ID', 'STAK_GOOGLE_CLIENT_SECRET']);
  const stripe = allOrNone(data, [
    'STAK_STRIPE_SECRET_KEY',
    'STAK_STRIPE_WEBHOOK_SECRET',
    'STAK_STRIPE_PRICE_STARTER',
    'STAK_STRIPE_PRICE_PRO',
    'STAK_STRIPE_PRICE_TEAM',
  ]);
  return {
    github: github && {
      clientId: github.STAK_GITHUB_CLIENT_ID,
      clientSecret: github.STAK_GITHUB_CLIENT_SECRET,
    },
    google: google && {
      clientId: google.STAK_GOOGLE_CLIENT_ID,
      clientSecret: google.STAK_GOOGLE_CLIENT_SECRET,
    },
    stripe: stripe && {
      secretKey: stripe.STAK_STRIPE_SECRET_KEY,
      webhookSecret: stripe.STAK_STRIPE_WEBHOOK_SECRET,
      prices: {
        starter: stripe.STAK_STRIPE_PRICE_STARTER,
        pro: stripe.STAK_STRIPE_PRICE_PRO,
        team: stripe.STAK_STRIPE_PRICE_TEAM,
      },
    },
  };
}

// Users of a self-hosted server pay nothing. A server that sells plans, or limits the storage of the free one, starts
// accounts on the free plan.
export const readDefaultPlan = (data: Variables): ServerConfig['defaultPlan'] =>
  data.STAK_DEFAULT_PLAN ??
  (data.STAK_STRIPE_SECRET_KEY !== undefined || typeof data.STAK_STORAGE_LIMITS.free === 'number'
    ? 'free'
    : 'selfhosted');

// `stak@example.com` or `Stak <stak@example.com>`.
const mailFrom = z
  .string()
  .refine(isOneLine, 'must be one line')
  .regex(/^(?:[^<>@]+<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, 'must be like Stak <stak@example.com>');

export const mailVariables = {
  STAK_SMTP_URL: z.url({ protocol: /^(?:smtps?|file)$/ }).optional(),
  STAK_MAIL_FROM: mailFrom.optional(),
  STAK_BRAND_NAME: z.string().trim().min(1).max(60).refine(isOneLine, 'must be one line').default('Stak'),
  STAK_BRAND_COLOR: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be like #0f766e')
    .default(light.accent),
  STAK_REQUIRE_VERIFIED_EMAIL: z.stringbool().optional(),
  STAK_SIGN_UP_BY_MAIL: z.stringbool().optional(),
} as const;

type MailContext = { store: StoreConfig; isProduction: boolean; demo: boolean };

// On a developer's machine mail is written to a folder beside the data, where it can be read. In production it must be
// configured; until then none is sent, and addresses need not be verified.
export function readMail(
  data: Variables,
  { store, isProduction, demo }: MailContext,
): Pick<ServerConfig, 'mail' | 'requireVerifiedEmail' | 'signsUpByMail'> {
  const { STAK_SMTP_URL: given, STAK_MAIL_FROM: from, STAK_BRAND_NAME: name, STAK_BRAND_COLOR: color } = data;
  const isFolder = given === undefined || given.startsWith('file:');
  if (!isFolder && from === undefined) throw new UsageError('STAK_SMTP_URL needs STAK_MAIL_FROM');
  const hasFolder = !isProduction && store.kind === 'embedded' && store.path !== ':memory:';
  const url = given ?? (hasFolder ? pathToFileURL(resolve(store.path, 'mail')).href : undefined);
  // The demo workspace has no mailbox.
  const signsUpByMail = data.STAK_SIGN_UP_BY_MAIL ?? (isProduction && !isFolder && !demo);
  if (signsUpByMail && (url === undefined || demo))
    throw new UsageError('STAK_SIGN_UP_BY_MAIL needs STAK_SMTP_URL, and no demo workspace');
  return {
    mail:
      url === undefined
        ? undefined
        : { url, from: from ?? `${name} <stak@localhost>`, brand: { name, color } },
    requireVerifiedEmail: data.STAK_REQUIRE_VERIFIED_EMAIL ?? (isProduction && url !== undefined),
    signsUpByMail,
  };
}

// An incomplete set of credentials would otherwise only fail for the first customer.
function allOrNone<N extends keyof Variables>(
  data: Variables,
  names: readonly N[],
): { [K in N]: NonNullable<Variables[K]> } | undefined {
  const missing = names.filter(name => data[name] === undefined);
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) throw new UsageError(`${missing.join(', ')} must be set too`);
  return data as { [K in N]: NonNullable<Variables[K]> };
}
