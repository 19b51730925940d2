import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { controlWithPrefix, createTables } from '@stak/table';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { template, templateText } from '../src/cloudformation/template.ts';
import { readServerConfig } from '../src/config.ts';
import { designs } from '../src/designs.ts';
import { startServer } from '../src/server.ts';

type Statement = { Action: string | string[]; Resource: unknown };
type Template = { Resources: Record<string, { Type: string; Properties: Record<string, unknown> }> };

const prefix = 'dev-';
const stack = template({ designs, prefix }) as unknown as Template;

async function openStore() {
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

describe('the template for AWS', () => {
  it('is small enough to be sent with a request', () => {
    const text = templateText(template({ designs, prefix }));
    expect(JSON.parse(text)).toEqual(stack);
    expect(Buffer.byteLength(text)).toBeLessThan(51_200);
  });

  it('makes every table as it is designed', async () => {
    const engine = await openStore();
    onTestFinished(() => engine.close());
    const reports = await createTables(controlWithPrefix(engine, prefix), designs);
    expect(reports).toEqual(designs.map(({ name }) => ({ table: name, done: [] })));
    const tables = Object.values(stack.Resources).filter(({ Type }) => Type === 'AWS::DynamoDB::Table');
    for (const table of tables)
      expect(table).toMatchObject({
        DeletionPolicy: 'Retain',
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      });
  });

  it('allows a server what it does, and no more', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
    onTestFinished(() => void vi.unstubAllEnvs());
    const engine = await openStore();
    const door = createHttpServer(engine, { port: 0 });
    const { url } = await door.listen();
    const guard = await openGuard(url);
    const lines: string[] = [];
    const config = readServerConfig({ port: 0 }, { ...environment(), STAK_AWS_ENDPOINT: guard.url });
    const server = await startServer(config, {
      log: createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    });
    onTestFinished(async () => {
      await server.stop();
      guard.close();
      await door.close();
      await engine.close();
    });
    await doSomethingOfEverything(server.localUrl);
    expect([...guard.denied]).toEqual(['dynamodb:ListTables *']); // asked for advice only
    const actions = statements().flatMap(({ Action }) => Action);
    expect(actions.filter(action => /\*|Create|Delete(?!Item|Object)|Update(?!Item)/.test(action))).toEqual([
      'kms:GenerateDataKey*',
      'kms:ReEncrypt*',
    ]);
    expect(lines.filter(line => line.includes('AccessDenied'))).toEqual([]);
  }, 60_000);
});

// As the container has it.
function environment(): Record<string, string> {
  const task = stack.Resources.ServerTask!.Properties as {
    ContainerDefinitions: { Environment: { Name: string; Value: unknown }[] }[];
  };
  const { Environment } = task.ContainerDefinitions[0]!;
  const values = Object.fromEntries(
    Environment.map(({ Name, Value }) => [Name, typeof Value === 'string' ? Value : '']),
  );
  return {
    ...values,
    STAK_HOST: '127.0.0.1',
    STAK_DRAIN_SECONDS: '0',
    STAK_PUBLIC_URL: 'https://stak.example.com',
    STAK_AWS_REGION: 'us-east-1',
    STAK_LAKE: 'off',
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
}

async function doSomethingOfEverything(baseUrl: string): Promise<void> {
  const person = { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false };
  const { data } = await createClient({ baseUrl }).accounts.signUp({ body: person });
  const client = createClient({ baseUrl, token: data.access_token });
  const tenant_id = 'acme';
  await client.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
  const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
  const event = await fetch(new URL(new URL(source.ingestUrl!).pathname, baseUrl), {
    method: 'POST',
    body: '{}',
  });
  expect(event.status).toBe(200);
  await client.tasks.create({ body: { title: 'Milk' } });
  await expect
    .poll(async () => (await client.webhooks.listEvents({ sourceId: source.sourceId })).data.data.length)
    .toBe(1);
  await client.tasks.list();
}

const statements = (): Statement[] => {
  const role = stack.Resources.ServerRole!.Properties as {
    Policies: { PolicyDocument: { Statement: Statement[] } }[];
  };
  return role.Policies.flatMap(policy => policy.PolicyDocument.Statement);
};

type Kind = 'table' | 'index' | 'stream';
function kindOf(resource: unknown): Kind | undefined {
  const text = JSON.stringify(resource);
  if (text.includes('/stream/*')) return 'stream';
  if (text.includes('/index/*')) return 'index';
  return text.includes('Table') ? 'table' : undefined;
}

// The store behind the policy: what the role does not allow is refused as AWS refuses it.
async function openGuard(store: string) {
  const names = new Map(
    Object.entries(stack.Resources)
      .filter(([, { Type }]) => Type === 'AWS::DynamoDB::Table')
      .map(([id, { Properties }]) => [Properties.TableName as string, id]),
  );
  const isGranted = (action: string, kind: Kind, table?: string) =>
    statements().some(
      ({ Action, Resource }) =>
        [Action].flat().includes(`dynamodb:${action}`) &&
        (Resource === '*' ||
          [Resource].flat().some(one => {
            if (kindOf(one) !== kind) return false;
            return table === undefined || JSON.stringify(one).includes(`${names.get(table)}`);
          })),
    );
  const denied = new Set<string>();
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
    const answer = await fetch(store, { method: 'POST', headers, body }).catch(() => undefined);
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
