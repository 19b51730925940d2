import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEngine, type Engine } from '@stak/engine';
import type { LambdaEvent } from '@stak/streams';

// A stack as far as it can be had here: its tables on the engine, and the store behind the policy of a role.

export type Statement = { Action: string | string[]; Resource: unknown };
export type Template = {
  Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
};

export async function openTables(stack: Template): Promise<Engine> {
  const engine = await createEngine({ path: ':memory:' });
  // The words of CloudFormation are those of the API, but for these.
  for (const { Type, Properties } of Object.values(stack.Resources)) {
    if (Type !== 'AWS::DynamoDB::Table') continue;
    const {
      TimeToLiveSpecification: ttl,
      PointInTimeRecoverySpecification,
      SSESpecification: _,
      ...rest
    } = Properties;
    const { StreamSpecification: stream, TableName } = rest;
    await engine.execute('CreateTable', {
      ...rest,
      ...(stream !== undefined && { StreamSpecification: { StreamEnabled: true, ...(stream as object) } }),
    });
    await engine.execute('UpdateContinuousBackups', { TableName, PointInTimeRecoverySpecification });
    if (ttl) await engine.execute('UpdateTimeToLive', { TableName, TimeToLiveSpecification: ttl });
  }
  return engine;
}

export function statementsOf(stack: Template, role: string): Statement[] {
  const { Policies } = stack.Resources[role]!.Properties as {
    Policies: { PolicyDocument: { Statement: Statement[] } }[];
  };
  return Policies.flatMap(policy => policy.PolicyDocument.Statement);
}

type Kind = 'table' | 'index' | 'stream';
function kindOf(resource: unknown): Kind | undefined {
  const text = JSON.stringify(resource);
  if (text.includes('/stream/*')) return 'stream';
  if (text.includes('/index/*')) return 'index';
  return text.includes('Table') ? 'table' : undefined;
}

/** The store behind the policy: what the role does not allow is refused as AWS refuses it. */
export async function openGuard(store: string, stack: Template, role: string) {
  const statements = statementsOf(stack, role);
  const names = new Map(
    Object.entries(stack.Resources)
      .filter(([, { Type }]) => Type === 'AWS::DynamoDB::Table')
      .map(([id, { Properties }]) => [Properties.TableName as string, id]),
  );
  const isGranted = (action: string, kind: Kind, table?: string) =>
    statements.some(
      ({ Action, Resource }) =>
        [Action].flat().includes(`dynamodb:${action}`) &&
        (Resource === '*' ||
          [Resource].flat().some(one => {
            if (kindOf(one) !== kind) return false;
            return table === undefined || JSON.stringify(one).includes(`${names.get(table)}`);
          })),
    );
  const denied = new Set<string>();
  let isAway = false;
  const guard = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const target = String(request.headers['x-amz-target']);
    const asked = askedFor(target, JSON.parse(body.toString()));
    const refused = asked.filter(({ action, kind, table }) => !isGranted(action, kind, table));
    if (refused.length > 0) {
      for (const { action, table } of refused) denied.add(`dynamodb:${action} ${table ?? '*'}`);
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: 'com.amazonaws#AccessDeniedException', message: 'no' }));
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name)),
    ) as Record<string, string>;
    const answer = isAway
      ? undefined
      : await fetch(store, { method: 'POST', headers, body }).catch(() => undefined);
    response.writeHead(answer?.status ?? 503, {
      'Content-Type': 'application/x-amz-json-1.0',
      ...(answer?.headers.has('x-amz-crc32') && { 'x-amz-crc32': answer.headers.get('x-amz-crc32')! }),
    });
    response.end(answer && Buffer.from(await answer.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(guard, 'listening');
  const { port } = guard.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    denied,
    setAway: (value: boolean) => {
      isAway = value;
    },
    close: () => void guard.close().closeAllConnections(),
  };
}

type Asked = { action: string; kind: Kind; table?: string };
type Input = { TableName?: string; IndexName?: string };

function askedFor(target: string, body: Record<string, unknown> & Input): Asked[] {
  const [service, action = ''] = target.split('.');
  if (service?.startsWith('DynamoDBStreams')) return [{ action, kind: 'stream' }];
  if (action === 'TransactWriteItems' || action === 'TransactGetItems')
    return (body.TransactItems as Record<string, Input>[]).flatMap(item =>
      Object.entries(item).map(([word, input]) => ({
        action: word === 'ConditionCheck' ? 'ConditionCheckItem' : `${word}Item`,
        kind: 'table' as const,
        table: input.TableName!,
      })),
    );
  if (action.startsWith('Batch'))
    return Object.keys(body.RequestItems as object).map(table => ({ action, kind: 'table', table }));
  const kind = body.IndexName === undefined ? 'table' : 'index';
  return [{ action, kind, ...(body.TableName !== undefined && { table: body.TableName }) }];
}

/** Everything in a table's stream, shard by shard, as Lambda brings it. */
export async function recordStream(store: string, TableName: string): Promise<LambdaEvent[]> {
  const ask = async <Answer>(action: string, body: object): Promise<Answer> => {
    const answer = await fetch(store, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDBStreams_20120810.${action}`,
        authorization: 'AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request',
      },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Answer;
  };
  const events: LambdaEvent[] = [];
  const { Streams } = await ask<{ Streams: { StreamArn: string }[] }>('ListStreams', { TableName });
  const { StreamArn } = Streams[0]!;
  const { StreamDescription } = await ask<{ StreamDescription: { Shards: { ShardId: string }[] } }>(
    'DescribeStream',
    { StreamArn },
  );
  for (const { ShardId } of StreamDescription.Shards) {
    const position = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
    const iterator = await ask<{ ShardIterator: string }>('GetShardIterator', position);
    const { Records } = await ask<LambdaEvent>('GetRecords', iterator);
    for (const record of Records) record.eventSourceARN = StreamArn;
    if (Records.length > 0) events.push({ Records });
  }
  return events;
}
