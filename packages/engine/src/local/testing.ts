import { type LocalServer, type LocalServerOptions, startLocalServer } from './local-server.ts';

export { type LocalServer, type LocalServerOptions, startLocalServer } from './local-server.ts';
export { type Seed, SeedError } from './seed.ts';

/** What a test runner calls: those of Vitest, Jest and `node:test` fit. */
export type Hooks = {
  beforeAll(work: () => Promise<void>): unknown;
  beforeEach(work: () => Promise<void>): unknown;
  afterAll(work: () => Promise<void>): unknown;
};

/**
 * Gives the tests of a file a DynamoDB of their own, which begins each test with the seed.
 *
 *     import { afterAll, beforeAll, beforeEach } from 'vitest';
 *     const dynamodb = useDynamoDb({ beforeAll, beforeEach, afterAll }, { seed: 'seed.json' });
 *     const client = () => new DynamoDBClient(dynamodb.clientConfig);
 */
export function useDynamoDb(hooks: Hooks, options: Omit<LocalServerOptions, 'path'> = {}): LocalServer {
  let server: LocalServer | undefined;
  let isFresh = false;
  const current = (): LocalServer => {
    if (!server) throw new Error('DynamoDB is there from beforeAll on: use it within a test');
    return server;
  };
  hooks.beforeAll(async () => {
    server = await startLocalServer(options);
    isFresh = true;
  });
  hooks.beforeEach(async () => {
    if (!isFresh) await current().reset();
    isFresh = false;
  });
  hooks.afterAll(async () => {
    await server?.stop();
    server = undefined;
  });
  return {
    get url() {
      return current().url;
    },
    get clientConfig() {
      return current().clientConfig;
    },
    get engine() {
      return current().engine;
    },
    reset: () => current().reset(),
    stop: () => current().stop(),
  };
}
