import type { Store } from '@stak/table';
import type { HeaderPair, HookRequest } from '../filters/request-view.ts';
import { payload, payloadOfEvent } from '../tables.ts';

// The request as it was received, byte for byte.
export async function readRequest(store: Store, eventId: string): Promise<HookRequest | undefined> {
  const first = await store.get(payload, { eventId, part: 0 }, { consistent: true });
  if (!first) return undefined;
  const { method = 'POST', query = '' } = first;
  const headers = JSON.parse(first.headers ?? '[]') as HeaderPair[];
  if (first.parts === 1) return { method, query, headers, body: first.body ?? new Uint8Array() };
  const parts: Uint8Array[] = [];
  for await (const one of store.all(payloadOfEvent, { eventId })) parts.push(one.body ?? new Uint8Array());
  if (parts.length !== first.parts) return undefined; // it is just expiring
  return { method, query, headers, body: Buffer.concat(parts) };
}
