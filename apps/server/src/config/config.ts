import { availableParallelism } from 'node:os';
import type { PlanName, StorageLimits } from '@stak/accounts';
import type { ModelsConfig } from '@stak/agents';
import { z } from 'zod';
import * as backup from './backup-config.ts';
import { UsageError } from './errors.ts';
import { readText, readWhole } from './flags.ts';
import { mailVariables, readDefaultPlan, readIntegrations, readMail } from './integrations.ts';
import { isLoopback } from './loopback.ts';
import { modelName, modelVariables, prices, readModels, readSpend, spending } from './model-config.ts';
import { readObjectsConfig } from './objects-config.ts';
import { readOrigins } from './origins.ts';
import { distance } from './spelling.ts';
import { storageLimits } from './storage-limits.ts';
import { type TracingConfig, tracingOf, tracingVariables } from './tracing.ts';

export type Environment = Record<string, string | undefined>;

// `process.env` is read only in this file. A flag wins over its variable, a variable over the default.

const list = z
  .string()
  .transform(text => text.split(',').map(part => part.trim()))
  .transform(parts => parts.filter(part => part !== ''));
const whole = (most: number) => z.coerce.number().int().min(0).max(most);
const secret = z.string().min(1);
const nonempty = list.refine(parts => parts.length > 0, 'names nothing');
const origin = z
  .url({ protocol: /^https?$/ })
  .refine(text => URL.canParse(text) && new URL(text).origin === text.replace(/\/$/, ''), {
    message: 'must be an origin, like https://stak.example.com',
  })
  .transform(text => text.replace(/\/$/, ''));

const address = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[^:\s]+):\d{1,5}$/i, 'must be host:port, like 127.0.0.1:9100')
  .transform(text => {
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(text) ?? [];
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  })
  .refine(({ port }) => port <= 65_535, 'must be host:port, like 127.0.0.1:9100');

// Not an e-mail address: sign-up does not prove who owns it.
const accountId = z.string().regex(/^usr_[0-9A-Za-z_-]+$/, 'must be off, or ids of accounts, like usr_…');

const tablePrefix = z
  .string()
  .regex(
    /^[A-Za-z0-9_.-]{0,100}$/,
    'must have letters, digits, dots, dashes and underscores only, 100 at most',
  );

export type DueShards = { webhooks: number; agents: number };
// Every store has at least these, and all of them are read: fewer would save nothing.
export const usualDueShards: DueShards = { webhooks: 8, agents: 4 };
export const dueShardsMost = 256; // every process polls each of them
const dueShards = (usual: number) => whole(dueShardsMost).min(usual).default(usual);

// Every variable of the server. `.env.example` explains each of them; a test keeps the two in sync.
export const serverVariables = {
  STAK_ENV: z.enum(['development', 'production']).default('development'),
  STAK_HOST: z.string().min(1).default('127.0.0.1'),
  STAK_PORT: whole(65_535).default(8787),
  STAK_WORKERS: whole(64).min(1).optional(),
  STAK_DRAIN_SECONDS: whole(600).optional(),
  STAK_PUBLIC_URL: origin.optional(),
  STAK_ALLOW_HTTP: z.stringbool().default(false),
  STAK_STORE: z.enum(['embedded', 'aws']).default('embedded'),
  STAK_DATA: z.string().min(1).default('./data'),
  STAK_LAKE: z.string().min(1).optional(),
  ...backup.backupVariables,
  STAK_TABLE_PREFIX: tablePrefix.default(''),
  STAK_AWS_REGION: z.string().min(1).optional(),
  STAK_AWS_ENDPOINT: z.url().optional(),
  STAK_S3_ENDPOINT: z.url().optional(),
  STAK_LAMBDA_CONSUMERS: list.default([]),
  STAK_WEBHOOKS_DUE_SHARDS: dueShards(usualDueShards.webhooks),
  STAK_AGENTS_DUE_SHARDS: dueShards(usualDueShards.agents),
  STAK_SECRET_KEYS: nonempty.optional(),
  STAK_CORS_ORIGINS: list.pipe(z.array(origin)).default([]),
  STAK_TRUSTED_PROXY_HOPS: whole(10).default(0),
  STAK_REQUESTS_PER_MINUTE: whole(1_000_000_000).min(1).default(600),
  STAK_WEBHOOKS_PER_MINUTE: whole(1_000_000_000).min(1).default(300_000),
  STAK_CONNECTIONS_PER_ADDRESS: whole(1_000_000).min(1).default(2_000),
  STAK_BODY_MEMORY_MB: whole(1_000_000).min(16).default(64),
  STAK_STORAGE_LIMITS: storageLimits.default({}),
  STAK_DEFAULT_PLAN: z.enum(['free', 'starter', 'pro', 'team', 'selfhosted']).optional(),
  STAK_METRICS_TOKEN: secret.optional(),
  STAK_METRICS_ADDRESS: address.optional(),
  ...tracingVariables,
  ...mailVariables,
  STAK_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).optional(),
  STAK_DEMO: z.stringbool().optional(),
  STAK_TABLES_EXPLORER: z.union([z.literal('off'), nonempty.pipe(z.array(accountId))]).optional(),
  STAK_OUTBOUND_ALLOW: list.optional(),
  STAK_GITHUB_CLIENT_ID: secret.optional(),
  STAK_GITHUB_CLIENT_SECRET: secret.optional(),
  STAK_GOOGLE_CLIENT_ID: secret.optional(),
  STAK_GOOGLE_CLIENT_SECRET: secret.optional(),
  STAK_STRIPE_SECRET_KEY: secret.optional(),
  STAK_STRIPE_WEBHOOK_SECRET: secret.optional(),
  STAK_STRIPE_PRICE_STARTER: nonempty.optional(),
  STAK_STRIPE_PRICE_PRO: nonempty.optional(),
  STAK_STRIPE_PRICE_TEAM: nonempty.optional(),
  STAK_ANTHROPIC_API_KEY: secret.optional(),
  STAK_OPENAI_API_KEY: secret.optional(),
  STAK_OPENAI_URL: z.url().optional(),
  STAK_GEMINI_API_KEY: secret.optional(),
  STAK_BEDROCK_REGION: z.string().min(1).optional(),
  ...modelVariables,
  STAK_MODELS_ALLOWED: list.pipe(z.array(modelName)).default([]),
  STAK_MODEL_MAX_TOKENS: whole(10_000_000).min(1).optional(),
  STAK_MODEL_SPEND_PER_DAY: list.pipe(spending).default([]),
  STAK_MODEL_PRICES: list.pipe(prices).default([]),
} as const;

const serverSchema = z.object(serverVariables);

export type StoreConfig =
  | { kind: 'embedded'; path: string; prefix?: string; history?: backup.HistoryConfig }
  | { kind: 'aws'; region: string; endpoint: string | undefined; prefix?: string }; // a prefix of the tables' names
export type ObjectsConfig =
  | { kind: 'folder'; path: string }
  | { kind: 's3'; bucket: string; prefix: string; region: string; endpoint?: string };
export type LakeConfig = { kind: 'off' } | ObjectsConfig;
// Accounts that may see every table: by their ids, or the demo's account, from this machine.
type ExplorerConfig = { operators: readonly string[]; admitsDemo: boolean };
type OAuthClient = { clientId: string; clientSecret: string };
type StripeConfig = {
  secretKey: string;
  webhookSecret: string;
  prices: Record<'starter' | 'pro' | 'team', readonly string[]>; // the first is sold, the others are still valid
};

type MailConfig = { url: string; from: string; brand: { name: string; color: string } };

export type LogLevel = z.output<(typeof serverVariables)['STAK_LOG_LEVEL']>;

export type ServerConfig = {
  isProduction: boolean;
  isPrivate: boolean; // whether only this machine can reach it, according to the settings
  host: string;
  port: number;
  workers: number; // serving processes
  drainSeconds: number; // between failing readiness and closing
  publicUrl: string | undefined; // the URL for browsers and providers, if it is not host and port
  store: StoreConfig;
  lake: LakeConfig;
  lambdaConsumers: readonly string[]; // of streams that Lambda functions follow
  dueShards: DueShards; // minimum number of partitions for due items
  backup: backup.BackupConfig | undefined; // without it, nothing is shipped
  secretKeys: readonly string[] | undefined; // newest first
  corsOrigins: readonly string[];
  trustedProxyHops: number;
  requestsPerMinute: number;
  webhooksPerMinute: number; // of one address, and to one source
  connectionsPerAddress: number;
  bodyMemoryMb: number; // of all requests in flight
  defaultPlan: PlanName; // for accounts without a paid plan
  storageLimits: StorageLimits; // override those of the plans
  metricsToken: string | undefined;
  tracing: TracingConfig | undefined;
  metricsAddress: { host: string; port: number } | undefined; // where metrics are served, if not beside the API
  logLevel: LogLevel;
  demo: boolean;
  explorer: ExplorerConfig | undefined; // without it, there are no explorer routes
  outboundAllow: readonly string[];
  github: OAuthClient | undefined;
  google: OAuthClient | undefined;
  stripe: StripeConfig | undefined;
  mail: MailConfig | undefined; // without it, no mail is sent
  requireVerifiedEmail: boolean; // for operations that reach out of this server
  signsUpByMail: boolean; // accounts are created for confirmed addresses only
  models: ModelsConfig;
  modelSpend: ReturnType<typeof readSpend>;
};

export type ServerFlags = {
  host?: unknown;
  port?: unknown;
  path?: unknown;
  memory?: unknown;
  workers?: unknown;
  demo?: unknown;
};

const inMemory = ':memory:';
const workersMost = 8; // by default: they share one store with one writer at a time
const drainSecondsInProduction = 5; // two probes of a load balancer
// A developer's own machine. Elsewhere the operator names the addresses that may be reached besides the internet.
const loopback = ['127.0.0.0/8', '::1/128'];

export function readServerConfig(flags: ServerFlags = {}, env: Environment = process.env): ServerConfig {
  const data = readVariables(withoutEmpty(env));
  const isProduction = data.STAK_ENV === 'production';
  const store = readStore(data, flags);
  const host = flags.host === undefined ? data.STAK_HOST : readText('--host', flags.host);
  // Others can also reach us through a proxy: then a demo workspace must be requested.
  const isPrivate =
    isLoopback(host) && data.STAK_PUBLIC_URL === undefined && data.STAK_TRUSTED_PROXY_HOPS === 0;
  if (isProduction) requireForProduction(data, host);
  const demo =
    typeof flags.demo === 'boolean' ? flags.demo : (data.STAK_DEMO ?? (!isProduction && isPrivate));
  return {
    isProduction,
    host,
    port: flags.port === undefined ? data.STAK_PORT : readPort(flags.port),
    workers: readWorkers(data, store, flags),
    drainSeconds: data.STAK_DRAIN_SECONDS ?? (isProduction ? drainSecondsInProduction : 0),
    publicUrl: data.STAK_PUBLIC_URL,
    store,
    lake: readLake(data, store),
    lambdaConsumers: data.STAK_LAMBDA_CONSUMERS,
    dueShards: { webhooks: data.STAK_WEBHOOKS_DUE_SHARDS, agents: data.STAK_AGENTS_DUE_SHARDS },
    backup: backup.readBackup(data, store),
    secretKeys: data.STAK_SECRET_KEYS,
    corsOrigins: data.STAK_CORS_ORIGINS,
    trustedProxyHops: data.STAK_TRUSTED_PROXY_HOPS,
    requestsPerMinute: data.STAK_REQUESTS_PER_MINUTE,
    webhooksPerMinute: data.STAK_WEBHOOKS_PER_MINUTE,
    connectionsPerAddress: data.STAK_CONNECTIONS_PER_ADDRESS,
    bodyMemoryMb: data.STAK_BODY_MEMORY_MB,
    defaultPlan: readDefaultPlan(data),
    storageLimits: data.STAK_STORAGE_LIMITS,
    metricsToken: data.STAK_METRICS_TOKEN,
    metricsAddress: data.STAK_METRICS_ADDRESS,
    tracing: tracingOf(data),
    logLevel: data.STAK_LOG_LEVEL ?? (isProduction ? 'info' : 'warn'),
    isPrivate,
    demo,
    explorer: readExplorer(data, demo && isPrivate && !isProduction),
    outboundAllow: data.STAK_OUTBOUND_ALLOW ?? (isProduction || !isPrivate ? [] : loopback),
    ...readIntegrations(data),
    ...readMail(data, { store, isProduction, demo }),
    models: readModels(data),
    modelSpend: readSpend(data),
  };
}

function readVariables(env: Environment): Variables {
  const names = Object.keys(serverVariables);
  for (const name of Object.keys(env)) {
    if (!name.startsWith('STAK_') || names.includes(name)) continue;
    const meant = names.find(candidate => distance(candidate, name) === 1);
    if (meant !== undefined) throw new UsageError(`${name} is not a setting; did you mean ${meant}?`);
  }
  // NODE_ENV=production is enough: operators need not set STAK_ENV as well.
  const STAK_ENV = env.STAK_ENV ?? (env.NODE_ENV === 'production' ? 'production' : undefined);
  const parsed = serverSchema.safeParse({ ...env, STAK_ENV });
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new UsageError(`${path.join('.')}: ${message}`);
}

function requireForProduction(data: Variables, host: string): void {
  const { STAK_SECRET_KEYS, STAK_PUBLIC_URL, STAK_ALLOW_HTTP } = data;
  if (!STAK_SECRET_KEYS)
    throw new UsageError(
      'in production STAK_SECRET_KEYS must be set, to id:secret; make a secret with: openssl rand -base64 32',
    );
  // It signs tokens, decides whether cookies require https, and is the URL that GitHub, Google and Stripe redirect to.
  if (!STAK_PUBLIC_URL && !isLoopback(host))
    throw new UsageError(
      'in production STAK_PUBLIC_URL must be set where others reach the server, like https://stak.example.com',
    );
  // Sessions and keys would cross the network unencrypted. On the local machine they do not cross a network.
  const { protocol, hostname } = new URL(STAK_PUBLIC_URL ?? 'https://none');
  if (protocol === 'http:' && !isLoopback(hostname) && !STAK_ALLOW_HTTP)
    throw new UsageError(
      'in production STAK_PUBLIC_URL must begin with https://; STAK_ALLOW_HTTP=true takes http all the same',
    );
}

// Existing variables are kept, so a variable of the shell wins over the file.
export function loadEnvFile(): Environment {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return process.env;
}

export type Variables = z.output<typeof serverSchema>;

function readStore(data: Variables, flags: ServerFlags): StoreConfig {
  if (flags.memory && flags.path !== undefined) throw new UsageError('choose either --path or --memory');
  const prefix = data.STAK_TABLE_PREFIX === '' ? {} : { prefix: data.STAK_TABLE_PREFIX };
  if (data.STAK_STORE === 'embedded') {
    const path = flags.memory ? inMemory : readText('--path', flags.path ?? data.STAK_DATA);
    return { kind: 'embedded', path, ...prefix, history: backup.readHistory(data) };
  }
  if (flags.memory || flags.path !== undefined)
    throw new UsageError('STAK_STORE=aws keeps nothing on this machine: leave out --path and --memory');
  if (!data.STAK_AWS_REGION) throw new UsageError('STAK_STORE=aws needs STAK_AWS_REGION');
  return { kind: 'aws', region: data.STAK_AWS_REGION, endpoint: data.STAK_AWS_ENDPOINT, ...prefix };
}

// One for each core but one, which the lake and the collection of garbage take. A store in memory has one process.
function readWorkers({ STAK_WORKERS }: Variables, store: StoreConfig, flags: ServerFlags): number {
  const asked = flags.workers === undefined ? STAK_WORKERS : readWhole('--workers', flags.workers, 1, 64);
  const isInMemory = store.kind === 'embedded' && store.path === inMemory;
  if (isInMemory && flags.workers !== undefined && asked !== 1)
    throw new UsageError('--memory is served by one process: leave out --workers');
  return isInMemory ? 1 : (asked ?? Math.min(workersMost, Math.max(1, availableParallelism() - 1)));
}

// A folder, s3://bucket/prefix, or `off`. An embedded store has its lake beside it, also with `on`.
function readLake(data: Variables, store: StoreConfig): LakeConfig {
  const { STAK_LAKE: location } = data;
  if (location === 'off') return { kind: 'off' };
  if (location !== undefined && location !== 'on') return readObjectsConfig('STAK_LAKE', location, data);
  if (store.kind === 'embedded') return { kind: 'folder', path: `${store.path}/lake` };
  if (location === 'on')
    throw new UsageError(
      'STAK_LAKE=on: say where the lake of a store on DynamoDB is, such as s3://bucket/lake',
    );
  return { kind: 'off' };
}

// By default only for the demo on a developer's own machine. Elsewhere it must be configured.
function readExplorer(
  { STAK_TABLES_EXPLORER: setting }: Variables,
  isLocalDemo: boolean,
): ExplorerConfig | undefined {
  if (setting === 'off') return undefined;
  if (setting !== undefined) return { operators: setting, admitsDemo: false };
  return isLocalDemo ? { operators: [], admitsDemo: true } : undefined;
}

// `NAME=` in an environment file means that it is not set, also with spaces: as a number they would be 0.
export const withoutEmpty = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''));

export type StoreFlags = { path?: unknown; endpoint?: unknown; region?: unknown; prefix?: unknown };

// For commands that open a store directly.
export function readStoreConfig(
  { path, endpoint, region, prefix: given }: StoreFlags,
  env: Environment = process.env,
): StoreConfig {
  const text = given === undefined ? (env.STAK_TABLE_PREFIX ?? '') : readText('--prefix', given);
  if (!tablePrefix.safeParse(text).success) throw new UsageError(`${text} is no prefix of a table's name`);
  const prefix = text === '' ? {} : { prefix: text };
  if (endpoint === undefined && region === undefined)
    return { kind: 'embedded', path: readDynamoConfig({ path }).path, ...prefix };
  if (path !== undefined) throw new UsageError('choose either --path or --endpoint and --region');
  return {
    kind: 'aws',
    region: readText('--region', region ?? 'us-east-1'),
    endpoint: endpoint === undefined ? undefined : readText('--endpoint', endpoint),
    ...prefix,
  };
}

export const readBackupTarget = (flags: { from?: unknown }, env: Environment = process.env) =>
  backup.readTarget(flags.from, withoutEmpty(env));

// The data folder of a server on this machine.
export const readDataFolder = ({ path }: { path?: unknown }, env: Environment = process.env): string =>
  readText('--path', path ?? (env.STAK_DATA || './data'));

export type DynamoConfig = { host: string; port: number; path: string; allowOrigins: string[] };
type DynamoFlags = Pick<ServerFlags, 'host' | 'port' | 'path' | 'memory'> & { allowOrigin?: unknown };

export function readDynamoConfig(flags: DynamoFlags, env: Environment = process.env): DynamoConfig {
  if (flags.memory && flags.path !== undefined) throw new UsageError('choose either --path or --memory');
  return {
    host: readText('--host', flags.host ?? env.STAK_DYNAMODB_HOST ?? '127.0.0.1'),
    port: readPort(flags.port ?? env.STAK_DYNAMODB_PORT ?? 8000),
    allowOrigins: readOrigins(flags.allowOrigin ?? env.STAK_DYNAMODB_ALLOW_ORIGIN),
    path: flags.memory ? inMemory : readText('--path', flags.path ?? env.STAK_DYNAMODB_PATH ?? './data'),
  };
}

export type ClientConfig = {
  flagUrl: string | undefined;
  variableUrl: string | undefined;
  token: string | undefined;
  home: string;
};

// For commands that call a server.
export function readClientConfig(flags: { url?: unknown }, env: Environment = process.env): ClientConfig {
  const readUrl = (name: string, url: unknown): string | undefined =>
    url === undefined ? undefined : readText(name, url).replace(/\/+$/, '');
  return {
    flagUrl: readUrl('--url', flags.url),
    variableUrl: readUrl('STAK_URL', env.STAK_URL || undefined),
    token: env.STAK_TOKEN || undefined,
    home: env.XDG_CONFIG_HOME || `${env.HOME ?? env.USERPROFILE ?? '.'}/.config`,
  };
}

const readPort = (value: unknown): number => readWhole('--port', value, 0, 65_535);
