import { createEngine, type Engine } from '../engine.ts';
import { createHttpServer, type HttpServerOptions } from '../http/server.ts';
import { applySeed, readSeed, type Seed } from './seed.ts';

/** Options of `startLocalServer`. */
export type LocalServerOptions = Pick<HttpServerOptions, 'host' | 'port' | 'region' | 'allowOrigins'> & {
  // A folder that keeps the tables. By default they are in memory, and gone at the end.
  path?: string;
  // What the tables and items are at the start, or files with that.
  seed?: Seed | string | readonly string[];
};

/** A running DynamoDB. Started with `startLocalServer`. */
export type LocalServer = {
  readonly url: string;
  /** For `new DynamoDBClient(…)` of the AWS SDK. */
  readonly clientConfig: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };
  /** The engine behind it. After `reset()` it is another one. */
  readonly engine: Engine;
  /** Forgets everything in memory and begins with the seed again. */
  reset(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts a DynamoDB for tests and development: in memory, on a free port of this machine, with a page at `/tables`.
 *
 *     const dynamodb = await startLocalServer({ seed: 'seed.json' });
 *     const client = new DynamoDBClient(dynamodb.clientConfig);
 *     await dynamodb.stop();
 */
export async function startLocalServer(options: LocalServerOptions = {}): Promise<LocalServer> {
  const { path = ':memory:', seed = [], region = 'us-east-1' } = options;
  const seeds = await readSeeds(seed);
  const open = async () => {
    const opened = await createEngine({ path, region });
    try {
      for (const { seed: one, source } of seeds) await applySeed(opened, one, source);
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  };
  let engine = await open();
  const executor = {
    execute: (operation: string, input: unknown) => engine.execute(operation as never, input),
  };
  const { host, port, allowOrigins } = options;
  const server = createHttpServer(executor, {
    region,
    showTables: true,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(allowOrigins && { allowOrigins }),
  });
  const { url } = await server.listen().catch(async error => {
    await engine.close();
    throw error;
  });
  return {
    url,
    clientConfig: { endpoint: url, region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } },
    get engine() {
      return engine;
    },
    async reset() {
      if (path !== ':memory:')
        throw new Error('Only a server in memory can be reset: this one keeps its tables');
      const last = engine;
      engine = await open();
      await last.close();
    },
    async stop() {
      await server.close();
      await engine.close();
    },
  };
}

async function readSeeds(seed: Seed | string | readonly string[]): Promise<{ seed: Seed; source: string }[]> {
  if (typeof seed === 'object' && !Array.isArray(seed)) return [{ seed: seed as Seed, source: 'The seed' }];
  const files = typeof seed === 'string' ? [seed] : (seed as readonly string[]);
  return Promise.all(files.map(async file => ({ seed: await readSeed(file), source: `The seed ${file}` })));
}
