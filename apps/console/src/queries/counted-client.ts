import { type ClientSettings, createClient } from '@stak/client';
import { clientSettings } from './api.ts';

/** Options of a call with `countedClient`: a full export takes minutes and is not retried. */
export const unhurried = { timeoutMs: 60 * 60_000, retries: 0 };

/** A client that reports how many bytes of a response have arrived. */
export const countedClient = (onBytes: (bytes: number) => void) =>
  createClient({ ...clientSettings, fetch: countingFetch(onBytes) });

const countingFetch =
  (onBytes: (bytes: number) => void): NonNullable<ClientSettings['fetch']> =>
  async (...request) => {
    const response = await (clientSettings.fetch ?? fetch)(...request);
    if (!response.ok || !response.body) return response;
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          onBytes(bytes);
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, response);
  };
