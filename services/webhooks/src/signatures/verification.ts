import { verifyCustom } from './custom.ts';
import { verifyGithub } from './github.ts';
import * as limits from './limits.ts';
import type { Provider, Verification, Verifier, VerifyInput } from './provider.ts';
import { verifySendgrid } from './sendgrid.ts';
import { verifyShopify } from './shopify.ts';
import { verifySlack } from './slack.ts';
import { verifyStandardWebhooks } from './standard-webhooks.ts';
import { verifyStripe } from './stripe.ts';
import { verifyTwilio } from './twilio.ts';

const verifiers: Readonly<Record<Provider, Verifier>> = {
  stripe: verifyStripe,
  github: verifyGithub,
  shopify: verifyShopify,
  slack: verifySlack,
  twilio: verifyTwilio,
  sendgrid: verifySendgrid,
  'standard-webhooks': verifyStandardWebhooks,
  custom: verifyCustom,
};

// Whether the provider sent this, over the exact bytes that arrived. Never throws on what a sender controls. An
// empty secret is no secret: HMAC would accept it, and so would everybody.
export function verify(provider: Provider, input: VerifyInput): Verification {
  const secrets = input.secrets.filter(secret => secret !== '' && secret.length <= limits.secretChars);
  if (secrets.length === 0) return { ok: false, reason: 'no_secret' };
  return verifiers[provider]({ ...input, secrets });
}
