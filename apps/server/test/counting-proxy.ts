import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

// Stands between a server and its DynamoDB, asks for the consumed capacity of every request, and adds it up.

export type CountedUnits = {
  table: string;
  index?: string;
  kind: 'read' | 'write';
  units: number;
  keys: readonly string[]; // values of the request's keys, to tell what it was about
};

type Units = { CapacityUnits: number };
type Capacity = {
  TableName: string;
  Table?: Units;
  GlobalSecondaryIndexes?: Record<string, Units>;
  LocalSecondaryIndexes?: Record<string, Units>;
};

const reads = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem', 'TransactGetItems']);
const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

// A refused transaction names no units, although DynamoDB bills it: those are not counted, here as in `simulate`.
const capacitiesOf = (answer: { ConsumedCapacity?: Capacity | Capacity[] }): Capacity[] =>
  [answer.ConsumedCapacity ?? []].flat();

// Every text in the request: keys, and the values of conditions on keys.
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

export async function openCountingProxy(
  target: string,
  note: (counted: CountedUnits) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const operation = String(incoming.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
    const isCounted = reads.has(operation) || writes.has(operation);
    const asked = Buffer.concat(chunks);
    const input = isCounted ? (JSON.parse(asked.toString()) as Record<string, unknown>) : {};
    const body = isCounted
      ? Buffer.from(JSON.stringify({ ...input, ReturnConsumedCapacity: 'INDEXES' }))
      : asked;
    const { 'transfer-encoding': _, ...headers } = incoming.headers;
    const outgoing = request(new URL(incoming.url ?? '/', target), {
      method: incoming.method,
      headers: { ...headers, 'content-length': String(body.length) },
      agent,
    });
    outgoing.on('error', () => response.destroy());
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response').catch(() => [])) as Parameters<
      NonNullable<Parameters<typeof request>[2]>
    >;
    if (!answer) return;
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    const text = Buffer.concat(parts);
    if (isCounted && answer.statusCode === 200) {
      const kind = reads.has(operation) ? 'read' : 'write';
      const keys = textsIn(input);
      for (const { TableName: table, Table, ...indexes } of capacitiesOf(JSON.parse(text.toString()))) {
        if (Table && Table.CapacityUnits > 0) note({ table, kind, units: Table.CapacityUnits, keys });
        for (const some of [indexes.GlobalSecondaryIndexes, indexes.LocalSecondaryIndexes])
          for (const [index, { CapacityUnits: units }] of Object.entries(some ?? {}))
            note({ table, index, kind, units, keys });
      }
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
      agent.destroy();
    },
  };
}
