import { randomBytes } from 'node:crypto';
import { createClient } from '@stak/client';
import { createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { controlWithPrefix, createTables } from '@stak/table';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { handlerId } from '../src/aws/handlers.ts';
import { lambdaConsumers, lambdaFunctions } from '../src/aws/lambda-functions.ts';
import { template, templateText } from '../src/aws/template.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { designs } from '../src/store/designs.ts';
import { openGuard, openTables, statementsOf, type Template } from './stack-fixture.ts';

const prefix = 'dev-';
const stack = template({ designs, prefix }) as unknown as Template;

describe('the template for AWS', () => {
  it('fits in a request', () => {
    const text = templateText(template({ designs, prefix }));
    expect(JSON.parse(text)).toEqual(stack);
    expect(Buffer.byteLength(text)).toBeLessThan(51_200);
  });

  it('creates every table as designed', async () => {
    const engine = await openTables(stack);
    onTestFinished(() => engine.close());
    const reports = await createTables(controlWithPrefix(engine, prefix), designs);
    expect(reports).toEqual(designs.map(({ name }) => ({ table: name, done: [] })));
  });

  it('protects every table: from deletion, with recovery, encrypted with the stack’s key', () => {
    const tables = resourcesOf(stack, 'AWS::DynamoDB::Table');
    expect(tables).toHaveLength(designs.length);
    for (const table of tables)
      expect(table).toMatchObject({
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          SSESpecification: {
            SSEEnabled: true,
            SSEType: 'KMS',
            KMSMasterKeyId: { 'Fn::GetAtt': ['Key', 'Arn'] },
          },
        },
      });
    expect(stack.Resources.Key).toMatchObject({
      Type: 'AWS::KMS::Key',
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { EnableKeyRotation: true },
    });
  });

  it('has alarms for servers, tables and functions, with a recipient, and a dashboard', () => {
    const stack = template({ designs, prefix, streams: 'lambda' }) as unknown as Template;
    const alarms = resourcesOf(stack, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties as Alarm);
    for (const alarm of alarms)
      expect(alarm).toMatchObject({
        AlarmActions: [{ Ref: 'AlarmTopic' }],
        OKActions: [{ Ref: 'AlarmTopic' }],
        ComparisonOperator: 'GreaterThanThreshold',
      });
    expect(stack.Resources.AlarmSubscription).toMatchObject({
      Properties: { TopicArn: { Ref: 'AlarmTopic' }, Endpoint: { Ref: 'AlarmEmail' } },
    });
    expect(alarms.flatMap(({ MetricName }) => MetricName ?? []).toSorted()).toEqual([
      'CPUUtilization',
      'HTTPCode_Target_5XX_Count',
      ...lambdaFunctions.map(() => 'IteratorAge'),
      'TargetResponseTime',
      'UnHealthyHostCount',
    ]);
    const throttled = alarms.flatMap(({ Metrics = [] }) =>
      Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : [])),
    );
    const { DashboardBody } = resourcesOf(stack, 'AWS::CloudWatch::Dashboard')[0]!.Properties as {
      DashboardBody: { 'Fn::Sub': string };
    };
    const charts = JSON.parse(DashboardBody['Fn::Sub']) as {
      widgets: { properties: { metrics: unknown[] } }[];
    };
    const shown = JSON.stringify(charts.widgets.map(({ properties }) => properties.metrics));
    for (const [id, { Type, Properties }] of Object.entries(stack.Resources)) {
      if (Type !== 'AWS::DynamoDB::Table') continue;
      const { GlobalSecondaryIndexes = [] } = Properties as {
        GlobalSecondaryIndexes?: { IndexName: string }[];
      };
      const Namespace = 'AWS/DynamoDB';
      const table = { Name: 'TableName', Value: { Ref: id } };
      for (const MetricName of ['ReadThrottleEvents', 'WriteThrottleEvents']) {
        expect(throttled).toContainEqual({ Namespace, MetricName, Dimensions: [table] });
        expect(shown).toContain(`"${MetricName}","TableName","\${${id}}",{`);
      }
      for (const { IndexName } of GlobalSecondaryIndexes) {
        const MetricName = 'WriteThrottleEvents';
        const index = { Name: 'GlobalSecondaryIndexName', Value: IndexName };
        expect(throttled).toContainEqual({ Namespace, MetricName, Dimensions: [table, index] });
        expect(shown).toContain(`"${MetricName}","TableName","\${${id}}","${index.Name}","${IndexName}"`);
      }
    }
    // CloudWatch allows ten metrics in one alarm.
    for (const { Metrics = [] } of alarms) expect(Metrics.length).toBeLessThanOrEqual(10);
    for (const name of ['RequestCount', 'HTTPCode_Target_5XX_Count', 'CPUUtilization', 'MemoryUtilization'])
      expect(shown).toContain(`"${name}"`);
  });

  it('has functions with retries and a dead letter queue, and secrets only where needed', () => {
    const stack = template({ designs, prefix, streams: 'lambda' }) as unknown as Template;
    expect(environmentOf(stack).STAK_LAMBDA_CONSUMERS).toBe(lambdaConsumers.join(','));
    for (const one of lambdaFunctions) {
      const id = handlerId(one);
      expect(stack.Resources[`${id}Source`]).toMatchObject({
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          BisectBatchOnFunctionError: true,
          ParallelizationFactor: 1,
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['FailedBucket', 'Arn'] } } },
        },
      });
      const text = JSON.stringify(stack.Resources[id]);
      expect(text.includes('secretsmanager')).toBe(one.isConfigured ?? false);
    }
  });

  it('grants a server what it needs, and no more', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
    onTestFinished(() => void vi.unstubAllEnvs());
    const engine = await openTables(stack);
    const dynamo = createHttpServer(engine, { port: 0 });
    const { url } = await dynamo.listen();
    const guard = await openGuard(url, stack, 'ServerRole');
    const lines: string[] = [];
    const config = readServerConfig({ port: 0 }, { ...environmentOf(stack), STAK_AWS_ENDPOINT: guard.url });
    const server = await startServer(config, {
      log: createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    });
    onTestFinished(async () => {
      await server.stop();
      guard.close();
      await dynamo.close();
      await engine.close();
    });
    await doSomethingOfEverything(server.localUrl);
    expect([...guard.denied]).toEqual(['dynamodb:ListTables *']); // asked for advice only
    const actions = statementsOf(stack, 'ServerRole').flatMap(({ Action }) => Action);
    expect(actions.filter(action => /\*|Create|Delete(?!Item|Object)|Update(?!Item)/.test(action))).toEqual([
      'kms:GenerateDataKey*',
      'kms:ReEncrypt*',
    ]);
    expect(lines.filter(line => line.includes('AccessDenied'))).toEqual([]);
  }, 60_000);
});

type Alarm = {
  MetricName?: string;
  Metrics?: { MetricStat?: { Metric: { MetricName: string; Dimensions: unknown[] } } }[];
};

const resourcesOf = (stack: Template, type: string) =>
  Object.values(stack.Resources).filter(({ Type }) => Type === type);

// As the container has it.
function environmentOf(stack: Template): Record<string, string> {
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
