import type { HeaderPair } from '../filters/request-view.ts';
import { signCustom } from './custom.ts';
import { createMac } from './hmac.ts';
import type { HmacConfig, Provider } from './provider.ts';
import { signStandardHeaders } from './signing.ts';
import { twilioSignature } from './twilio.ts';

export type UnsignedRequest = {
  secret: string;
  id: string; // unlike that of every other request
  timestampS: number;
  headers: readonly HeaderPair[];
  body: Uint8Array;
  url: string; // as the sender would see it
  config?: HmacConfig | undefined; // of a custom source
};

// Undefined where the secret cannot be a key, as it can be for senders that encode theirs.
type Signer = (request: UnsignedRequest) => HeaderPair[] | undefined;

const hex = ({ secret }: UnsignedRequest, ...parts: (string | Uint8Array)[]): string =>
  createMac('sha256', secret, parts, 'hex');

// SendGrid is missing: it keeps the private key, and a source has the public one.
const signers: Readonly<Partial<Record<Provider, Signer>>> = {
  stripe: request => [
    [
      'Stripe-Signature',
      `t=${request.timestampS},v1=${hex(request, `${request.timestampS}.`, request.body)}`,
    ],
  ],
  github: request => [['X-Hub-Signature-256', `sha256=${hex(request, request.body)}`]],
  shopify: ({ secret, body }) => [['X-Shopify-Hmac-Sha256', createMac('sha256', secret, [body], 'base64')]],
  slack: request => [
    ['X-Slack-Request-Timestamp', String(request.timestampS)],
    ['X-Slack-Signature', `v0=${hex(request, `v0:${request.timestampS}:`, request.body)}`],
  ],
  twilio: ({ secret, headers, body, url }) => {
    const signature = twilioSignature({ secret, headers, rawBody: body, url });
    return signature === undefined ? undefined : [['X-Twilio-Signature', signature]];
  },
  'standard-webhooks': ({ secret, id, timestampS, body }) =>
    signStandardHeaders({ secrets: [secret], id, timestampS, body }),
  custom: signCustom,
};

/** The headers that prove a request as its provider would, or undefined where only the provider can. */
export const signRequest = (provider: Provider, request: UnsignedRequest): HeaderPair[] | undefined =>
  signers[provider]?.(request);
