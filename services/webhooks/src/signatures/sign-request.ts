import type { HeaderPair } from '../filters/request-view.ts';
import { signCustom } from './custom.ts';
import { createMac, type HmacConfig, type Provider, signStandardHeaders } from './signing.ts';
import { twilioSignature } from './verify.ts';

export type UnsignedRequest = {
  secret: string;
  id: string; // unique
  timestampS: number;
  headers: readonly HeaderPair[];
  body: Uint8Array;
  url: string; // as the sender would have it
  config?: HmacConfig | undefined; // of a custom source
};

// Undefined if the secret cannot be used as a key.
type Signer = (request: UnsignedRequest) => HeaderPair[] | undefined;

const hex = ({ secret }: UnsignedRequest, ...parts: (string | Uint8Array)[]): string =>
  createMac('sha256', secret, parts, 'hex');

// Not SendGrid: a source has its public key only.
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

// The signature headers that the provider would send. Undefined if only the provider can sign.
export const signRequest = (provider: Provider, request: UnsignedRequest): HeaderPair[] | undefined =>
  signers[provider]?.(request);
