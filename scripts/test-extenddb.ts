// Runs the contract of tables, the oracles and three servers on ExtendDB, which speaks DynamoDB over PostgreSQL:
//   npm run test:extenddb -- BINARY postgres://user:password@host:port [--only contract | oracle | nodes] [--minutes N]
// It makes databases of its own, whose names begin with stak_test, and drops them at the end.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, minutes: { type: 'string', default: '0' } },
});
const [binary, postgres] = positionals;
if (binary === undefined || postgres === undefined || !URL.canParse(postgres)) {
  console.error('Usage: npm run test:extenddb -- BINARY postgres://user:password@host:port');
  process.exitCode = 2;
} else process.exitCode = await run(binary, new URL(postgres));

async function run(program: string, database: URL): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'stak-extenddb-'));
  const config = join(home, 'extenddb.toml');
  const port = await freePort();
  const env = { ...process.env, HOME: home, EXTENDDB__SERVER__PORT: String(port) };
  const extenddb = (...args: string[]): string =>
    execFileSync(program, args, { cwd: home, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const name = `stak_test_${randomBytes(4).toString('hex')}`;
  const admin = [
    ...['--pg-host', database.hostname, '--pg-port', database.port || '5432'],
    ...['--pg-user', decodeURIComponent(database.username) || 'postgres'],
    ...(database.password === '' ? [] : ['--pg-pass', decodeURIComponent(database.password)]),
  ];
  const said = extenddb(
    'init',
    ...admin,
    '--data-db',
    name,
    '--catalog-db',
    `${name}_catalog`,
    '--config',
    config,
  );
  try {
    extenddb('settings', '--config', config, 'set', 'control_plane_delay_seconds', '0');
    extenddb('serve', '--config', config, '--port', String(port)); // goes on in the background
    const keys = createAccessKey(extenddb, port, said);
    const settings = {
      ...process.env,
      ...keys,
      DYNAMODB_KIND: 'extenddb',
      DYNAMODB_ENDPOINT: `https://127.0.0.1:${port}`,
      NODE_EXTRA_CA_CERTS: join(home, '.extenddb/tls/cert.pem'),
    };
    return await runTests(settings);
  } finally {
    spawnSync(program, ['stop', '--config', config], { cwd: home, env });
    spawnSync(program, ['destroy', '--config', config, ...admin.slice(4), '--yes'], { cwd: home, env });
    await rm(home, { recursive: true, force: true });
  }
}

// As its guide says: a user of the account that was made with the deployment, who may do everything.
function createAccessKey(extenddb: (...args: string[]) => string, port: number, said: string) {
  const find = (pattern: RegExp, text: string): string => {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) throw new Error(`ExtendDB did not say ${pattern}:\n${text}`);
    return found;
  };
  const account = find(/Account ID: (\d+)/, said);
  const password = find(/Password: (\S+)/, said);
  const own = randomBytes(12).toString('hex');
  const policy = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'dynamodb:*', Resource: '*' }],
  };
  const endpoint = ['--endpoint', `https://127.0.0.1:${port}`];
  const asAdmin = (...args: string[]) =>
    extenddb('manage', ...endpoint, '--user', 'admin', '--password', password, ...args);
  const user = ['--account-id', account, '--user-name', 'stak'];
  asAdmin('create-user', ...user, '--user-password', own);
  asAdmin('put-user-policy', ...user, '--policy-name', 'all', '--policy-document', JSON.stringify(policy));
  const key = extenddb(
    'manage',
    ...endpoint,
    '--user',
    `${account}/stak`,
    '--password',
    own,
    'create-access-key',
  );
  return {
    AWS_ACCESS_KEY_ID: find(/\b(AKIA[A-Z0-9]+|[A-Z0-9]{20})\b/, key),
    AWS_SECRET_ACCESS_KEY: find(/[Ss]ecret[^\n]*?[:"\s]+([A-Za-z0-9+/=]{40})/, key),
  };
}

async function runTests(env: NodeJS.ProcessEnv): Promise<number> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const nodes = [
    '--import',
    'tsx',
    join(root, 'apps/server/test/nodes/campaign.ts'),
    '--endpoint',
    env.DYNAMODB_ENDPOINT!,
  ];
  const steps: [name: string, args: string[]][] = [
    ['contract', [vitest, 'run', 'packages/table/test/contract.test.ts']],
    ['oracle', [vitest, 'run', 'services/inbox/test/oracle.test.ts', '-t', 'another DynamoDB']],
    ['nodes', [...nodes, '--minutes', values.minutes]],
  ];
  let failed = 0;
  for (const [name, args] of steps) {
    if (values.only !== undefined && values.only !== name) continue;
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) failed = code ?? 1;
  }
  return failed;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
