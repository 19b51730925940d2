import type { Outbound } from '@stak/outbound';
import type * as openid from 'openid-client';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';

export type OpenidClient = typeof openid;

// Loaded on first use: most servers have no providers.
export const loadClient = (): Promise<OpenidClient> => import('openid-client');

// Reads the whole body, up to a limit, before the request's timeout ends.
export const boundedFetch: openid.CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limits.providerBytes)
      throw new Error(`${url} answers more than ${limits.providerBytes} bytes`);
    chunks.push(chunk);
  }
  const hasBody = response.status !== 204 && response.status !== 304;
  const { status, headers } = response;
  return new Response(hasBody ? Buffer.concat(chunks, size) : null, { status, headers });
};

// For issuers that customers chose: their discovery documents may not point into our own network.
export const guardedFetch =
  (outbound: Outbound): openid.CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const result = await outbound.send({
      url,
      method,
      headers: Object.entries(headers),
      ...(body != null && { body: String(body) }),
      signal,
      timeoutMs: limits.providerMs,
    });
    if (!result.ok) throw new Error(`${new URL(url).origin}: ${result.message}`);
    if (result.truncated) throw new Error(`${new URL(url).origin} answers too much`);
    const hasBody = result.status !== 204 && result.status !== 304;
    const pairs = result.headers.map(([name, value]): [string, string] => [name, value]);
    return new Response(hasBody ? Buffer.from(result.body) : null, {
      status: result.status,
      headers: pairs,
    });
  };

// Callers get one problem for any fault of the provider, and the log gets the cause. An expired code and a person who
// declined are not the provider's fault.
export function explainProvider(client: OpenidClient, title: string, error: unknown): Error {
  if (error instanceof client.AuthorizationResponseError)
    return refuse('accounts.sign_in_denied', `${title} did not sign you in.`, { error: error.error }, error);
  if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant')
    return refuse(
      'accounts.sign_in_expired',
      `${title} no longer knows this sign-in. Start again.`,
      {},
      error,
    );
  return refuse(
    'accounts.provider_failed',
    `${title} did not respond as expected. Try again later.`,
    {},
    error,
  );
}
