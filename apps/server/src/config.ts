import { UsageError } from './errors.ts';

export type DynamoConfig = { host: string; port: number; path: string };

type Environment = Record<string, string | undefined>;
type Flags = { host?: unknown; port?: unknown; path?: unknown; memory?: unknown };

const inMemory = ':memory:';

// A flag wins over its variable, a variable over the default. `process.env` is read nowhere else.
export function readDynamoConfig(flags: Flags, env: Environment = process.env): DynamoConfig {
  if (flags.memory && flags.path !== undefined) throw new UsageError('choose either --path or --memory');
  return {
    host: readText('--host', flags.host ?? env.STAK_DYNAMODB_HOST ?? '127.0.0.1'),
    port: readPort(flags.port ?? env.STAK_DYNAMODB_PORT ?? 8000),
    path: flags.memory ? inMemory : readText('--path', flags.path ?? env.STAK_DYNAMODB_PATH ?? './data'),
  };
}

// The command line parser hands over numbers where a text looks like one, and lists where a flag is repeated.
export function readText(name: string, value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && value !== '') return value;
  throw new UsageError(`${name} needs one value`);
}

function readPort(value: unknown): number {
  const port = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`--port needs a number from 0 to 65535, not ${JSON.stringify(value)}`);
}
