import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import type { Contestant } from '../../contestant.ts';
import { findFreePort } from '../../free-port.ts';
import { createTable, tableName } from '../data.ts';
import { createOperations, load, type Port } from '../operations.ts';
import { loadInFlight, type Settings } from '../settings.ts';

export type Server = { command: string; args: string[] };

const readyWithinMs = 30_000;

// A server in its own process, called through the AWS SDK's document client.
export async function startOverHttp(
  { shape }: Settings,
  server: (port: number) => Server,
): Promise<Contestant> {
  const port = await findFreePort();
  const { command, args } = server(port);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said = `${said}${text}`.slice(-2000);
  });
  child.once('error', error => fail(error.message));
  child.once('exit', () => fail(said));
  const fail = (why: string) => {
    console.error(`${command} ended: ${why}`);
    process.exit(1);
  };
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    maxAttempts: 1,
  });
  await createWhenReady(client);
  const document = DynamoDBDocument.from(client) as unknown as Port;
  await load(document, shape, loadInFlight);
  return {
    operations: createOperations(document, shape),
    async close() {
      client.destroy();
      child.removeAllListeners('exit');
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function createWhenReady(client: DynamoDBClient): Promise<void> {
  await retry(() => client.send(new CreateTableCommand(createTable)));
  await retry(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.TableStatus !== 'ACTIVE') throw new Error('the table is not active');
  });
}

async function retry(attempt: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (true) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}
