import type { Outbound } from '@stak/outbound';
import type * as openid from 'openid-client';
import { refuse } from './errors.ts';
import * as limits from './limits.ts';

export type OpenidClient = typeof openid;

// Loaded by the first sign-in: a server without providers has no use for it.
export const loadClient = (): Promise<OpenidClient> => import('openid-client');

// An answer is read whole, up to a limit, while the request's deadline still holds.
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

// For issuers that customers chose: nothing in our own network is reached, whatever their documents say.
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

// For a provider on this machine, as in tests: everything else is reached by https only.
export const isLoopback = (url: string): boolean =>
  ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);

// Whatever a provider does wrong is one problem to the caller; the cause is for the log. Only a refused code or a
// refusal of the person is not the provider's fault.
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
    `${title} does not answer as it should. Try again later.`,
    {},
    error,
  );
}
