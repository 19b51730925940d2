import { randomBytes } from 'node:crypto';
import { cutText } from '@stak/kit';
import { z } from 'zod';
import { type Base, inSeconds, isoTime } from '../../deps.ts';
import type { Throttle } from '../credentials/throttle.ts';
import * as limits from './limits.ts';
import { ProtocolError } from './protocol.ts';
import { isRedirectUri } from './redirect-uri.ts';
import { type OAuthClient, oauthClient } from './tables.ts';

export type ClientsDeps = Pick<Base, 'store' | 'clock'> & { throttle: Pick<Throttle, 'tryRegistration'> };

// The metadata that we use. Any other must be ignored (RFC 7591, 2).
const metadataSchema = z.looseObject({
  client_name: z.string().max(limits.parameterChars).optional(),
  redirect_uris: z.array(z.string()).min(1).max(limits.redirectUris),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

const clientIdShape = /^app_[A-Za-z0-9_-]{22}$/;

// Invisible characters, and those that change the direction of the text around them.
const invisible = /[\p{C}\p{Zl}\p{Zp}]+/gu;

function readMetadata(body: Uint8Array): Pick<OAuthClient, 'clientName' | 'redirectUris'> {
  const parsed = metadataSchema.safeParse(parseJson(body));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const isUri = issue?.path[0] === 'redirect_uris';
    throw new ProtocolError(
      isUri ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      isUri
        ? `Name 1 to ${limits.redirectUris} redirect_uris.`
        : `"${issue?.path.join('.')}" is not valid: ${issue?.message}`,
    );
  }
  const { client_name, redirect_uris, grant_types, response_types } = parsed.data;
  const refused = redirect_uris.find(redirect_uri => !isRedirectUri(redirect_uri));
  if (refused !== undefined)
    throw new ProtocolError(
      'invalid_redirect_uri',
      `${JSON.stringify(cutText(refused, 100))} is not an https address, nor one of http://127.0.0.1, http://[::1] or http://localhost, nor one of a program such as com.example.app:/callback.`,
    );
  if (grant_types && !grant_types.includes('authorization_code'))
    throw new ProtocolError('invalid_client_metadata', 'Apps get tokens with an authorization_code only.');
  if (response_types && !response_types.includes('code'))
    throw new ProtocolError('invalid_client_metadata', 'The only response_type is code.');
  const clientName = (client_name ?? '').toWellFormed().replaceAll(invisible, ' ').trim();
  return {
    clientName: cutText(clientName, limits.clientNameChars) || 'An app without a name',
    redirectUris: [...new Set(redirect_uris)],
  };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw new ProtocolError('invalid_client_metadata', 'The body is not valid JSON.');
  }
}

// Anyone may register a client. Registration grants no access: a person has to approve each request.
export async function registerClient(
  { store, clock, throttle }: ClientsDeps,
  body: Uint8Array,
  address: string | undefined,
): Promise<OAuthClient> {
  const metadata = readMetadata(body);
  await throttle.tryRegistration(address);
  const nowMs = clock.now();
  const made: OAuthClient = {
    clientId: `app_${randomBytes(16).toString('base64url')}`,
    ...metadata,
    createdAt: isoTime(nowMs),
    expiresAt: inSeconds(nowMs) + limits.clientUnusedS,
  };
  await store.put(oauthClient, made);
  return made;
}

export async function findClient(
  { store, clock }: Pick<Base, 'store' | 'clock'>,
  clientId: string | undefined,
): Promise<OAuthClient | undefined> {
  if (clientId === undefined || !clientIdShape.test(clientId)) return undefined;
  const storedOauthClient = await store.get(oauthClient, { clientId }, { consistent: true });
  // DynamoDB removes expired items some time after they expire.
  return storedOauthClient && storedOauthClient.expiresAt > inSeconds(clock.now())
    ? storedOauthClient
    : undefined;
}
