import type { Client } from '@stak/client';
import type { Request } from '../server/load.ts';

// An event of one kilobyte, as a shop might send it.
export function eventOf(path: string, mark = 'any'): Request {
  const order = { mark, type: 'order.paid', currency: 'EUR', total: 4990, note: '' };
  order.note = 'x'.repeat(1024 - Buffer.byteLength(JSON.stringify(order)));
  return {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(order),
  };
}

export const ingestPath = (sourceId: string): string => `/in/${sourceId}`;

export async function createSource(client: Client, name: string): Promise<string> {
  return (await client.webhooks.createSource({ body: { name } })).data.sourceId;
}

export async function connect(
  client: Client,
  sourceId: string,
  destinationUrl: string,
  options: { retryConfig?: { delaysS: number[] }; maxConcurrency?: number } = {},
): Promise<string> {
  const body = { name: 'bench', destinationUrl, ...options };
  return (await client.webhooks.createConnection({ sourceId, body })).data.connectionId;
}
