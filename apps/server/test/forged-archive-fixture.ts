import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { emailLock, profile } from '@stak/accounts/tables';
import { createEngine } from '@stak/engine';
import { createSealer, systemClock } from '@stak/kit';
import {
  type AnyEntity,
  type Attributes,
  createStore,
  createTables,
  type DynamoClient,
  putParams,
} from '@stak/table';
import { tenant } from '@stak/tenants/tables';
import { connection, connectionPointer, event, source } from '@stak/webhooks/tables';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { accountTables } from '../src/store/archive/account.ts';
import { type Manifest, tagItem } from '../src/store/archive/format.ts';
import { keyIn } from '../src/store/archive/import.ts';
import { type AccountImport, importAccounts } from '../src/store/archive/import-account.ts';
import { keepNames } from '../src/store/archive/keep.ts';
import { designs } from '../src/store/designs.ts';

// An attacker has a download of their own account, rewrites it, and asks the operator to import it.

export const mallory = 'usr_mallory';
export const victim = 'usr_victim';
export const at = '2026-01-01T00:00:00.000Z';
const farS = 4_102_444_800;
export const everything = new Set(keepNames);
const sealer = createSealer({ keys: [{ id: 'k1', secret: randomBytes(32) }] });

export let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-forged-'));
});
afterAll(() => rm(folder, { recursive: true }));

export const put = (entity: AnyEntity, values: object): Attributes => putParams(entity, values, {}, 0).Item;

// A person has an account, a tenant, a source with a connection, and an event.
export const idsOf = (who: 'mallory' | 'victim') => ({
  userId: `usr_${who}`,
  accountId: `usr_${who}`,
  account_id: `usr_${who}`,
  user_id: `usr_${who}`,
  uid: `usr_${who}`,
  madeBy: `usr_${who}`,
  appOf: `usr_${who}`,
  confinedTo: `usr_${who}`,
  tenant_id: `${who}-tenant`,
  tenant_key: `${who}-tenant`,
  tenants: [`${who}-tenant`],
  realm: `tenant:${who}-tenant`,
  sourceId: `src_${who}`,
  connectionId: `con_${who}`,
  connectionIds: [`con_${who}`],
  eventId: `evt_${who}`,
  eventIds: [`evt_${who}`],
  target_task_pk: `TASK#usr_${who}`,
  email: `${who}@example.com`,
  dueIn: 's1',
});
export type Ids = ReturnType<typeof idsOf>;

const texts = [
  'sample',
  '1',
  at,
  '2026-01-01',
  '2026-01',
  'https://example.com/',
  'a'.repeat(64),
  '{}',
  '$public',
];
const others = [1, 0, farS, farS * 1000, false, true, [], {}, null, new Uint8Array(4), { kind: 'users' }];

function sampleOf(type: z.core.$ZodType): unknown {
  const fits = (value: unknown) => z.safeParse(type, value).success;
  const simple = [...texts, ...others].find(fits);
  if (simple !== undefined) return simple;
  if (type instanceof z.ZodEnum) return type.options[0];
  if (type instanceof z.ZodUnion) return sampleOf(type.options[0]!);
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable)
    return sampleOf(type.unwrap() as z.ZodType);
  if (type instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(type.shape)
        .filter(([, one]) => !z.safeParse(one as z.ZodType, undefined).success)
        .map(([name, one]) => [name, sampleOf(one as z.ZodType)]),
    );
  if (type instanceof z.ZodLiteral) return [...type.values][0];
  if (type instanceof z.ZodNonOptional) return sampleOf(type.unwrap() as z.ZodType);
  throw new Error(`no sample of ${type._zod.def.type}`);
}

// Texts with a meaning of their own.
const settingsOf = new Map<AnyEntity, object>([
  [connection, { filters: '[]', transform: '{"type":"passthrough"}', retryConfig: '{}', ratePerSecond: 1 }],
]);

// An item with all ids of these people. Those in keys are always there.
export function itemOf(entity: AnyEntity, ids: Partial<Ids>, changes: object = {}): Attributes {
  const { schema, key, indexes, table, kind, examples } = entity;
  const given = { ...settingsOf.get(entity), ...changes };
  const inKeys = new Set([key, ...indexes].flatMap(({ params }) => params));
  const example: Attributes = { ...examples[0] };
  const values: Attributes = {};
  for (const [name, type] of Object.entries(schema.shape)) {
    const isOptional = z.safeParse(type, undefined).success;
    if (name === 'kind' && kind !== undefined) continue;
    if (Object.hasOwn(given, name)) values[name] = (given as Attributes)[name];
    else if (Object.hasOwn(ids, name) && z.safeParse(type, ids[name as keyof Ids]).success)
      values[name] = ids[name as keyof Ids];
    else if (name === table.ttl) values[name] = farS;
    else if (example[name] !== undefined) values[name] = example[name];
    else if (inKeys.has(name) || !isOptional) values[name] = sampleOf(type);
  }
  return values;
}

export const person = (who: 'mallory' | 'victim'): [AnyEntity, object][] => {
  const ids = idsOf(who);
  return [
    [profile, itemOf(profile, ids, { name: who, plan: 'free', createdAt: at, updatedAt: at })],
    [emailLock, itemOf(emailLock, ids)],
    [tenant, itemOf(tenant, ids)],
    [source, itemOf(source, ids, { status: 'active' })],
    [connection, itemOf(connection, ids)],
    [connectionPointer, itemOf(connectionPointer, ids)],
    [event, itemOf(event, ids, { deliveries: {} })],
  ];
};

export type Stored = readonly [table: string, item: Attributes];
export const storedAs = (entity: AnyEntity, values: object): Stored => [
  entity.table.name,
  put(entity, values),
];
const mallorys = person('mallory').map(([entity, values]) => storedAs(entity, values));
export const ofMallory = (): Stored[] => structuredClone(mallorys);

// Most archives have the same tables but for one.
const known = new Map<string, { content: Buffer; sha256: string }>();
function packed(text: string): { content: Buffer; sha256: string } {
  const before = known.get(text);
  if (before) return before;
  const content = gzipSync(text);
  const made = { content, sha256: createHash('sha256').update(content).digest('hex') };
  known.set(text, made);
  return made;
}

export async function writeArchive(
  items: readonly Stored[],
  change: (manifest: Manifest) => Manifest = one => one,
  { to, written }: { to: string; written: Map<string, string> } = { to: folder, written: new Map() },
) {
  const tables: Manifest['tables'] = {};
  for (const name of new Set(items.map(([table]) => table))) {
    const lines = items.filter(([table]) => table === name).map(([, item]) => JSON.stringify(tagItem(item)));
    const { content, sha256 } = packed(`${lines.join('\n')}\n`);
    const file = `${name}-00001.ndjson.gz`;
    if (written.get(file) !== sha256) await writeFile(join(to, file), content);
    written.set(file, sha256);
    tables[name] = { isWhole: true, parts: [{ file, items: lines.length, sha256 }] };
  }
  const manifest: Manifest = {
    format: 'stak-archive',
    version: 1,
    begun: at,
    finished: at,
    accounts: [mallory],
    secrets: 'as stored',
    tables,
  };
  await writeFile(join(to, 'archive.json'), JSON.stringify(change(manifest)));
}

export async function openTarget() {
  const engine = await createEngine({ path: ':memory:' });
  await createTables(engine, designs);
  const store = createStore({ client: engine.client });
  for (const [entity, values] of person('victim'))
    await engine.client.put({ TableName: entity.table.name, Item: put(entity, values) });
  const options: AccountImport = { client: engine.client, folder, sealer, clock: systemClock };
  return { engine, store, options, close: () => engine.close() };
}

export async function allItems(client: DynamoClient): Promise<Map<string, Attributes>> {
  const items = new Map<string, Attributes>();
  for (const table of accountTables) {
    const { Items = [] } = await client.scan({ TableName: table.name });
    for (const item of Items)
      items.set([table.name, item[table.keys.partition], item[table.keys.sort!]].join(' '), item);
  }
  return items;
}

const isOfVictim = (item: Attributes): boolean => JSON.stringify(tagItem(item)).includes('victim');

// Attacks wait for files most of the time. So a few are made at once, each in a store and a folder of its own, which
// serve for all attacks of the file.
const attacksAtOnce = 4;
type Target = Awaited<ReturnType<typeof openAttacked>>;
const targets: Promise<Target>[] = [];
const turns: Promise<unknown>[] = [];
let attacks = 0;
afterAll(async () => {
  for (const target of targets) await (await target).close();
});

async function openAttacked(name: string) {
  const target = await openTarget();
  const to = join(folder, name);
  await mkdir(to);
  const items = await allItems(target.engine.client);
  return { ...target, to, written: new Map<string, string>(), items };
}

/**
 * Imports the archive in the way that takes most. Returns what it added that mentions the victim, and removes what it
 * added.
 */
export function attack(items: readonly Stored[], goOn: boolean): Promise<Attacked> {
  const n = attacks++ % attacksAtOnce;
  const attacked = Promise.resolve(turns[n]).then(async () => {
    targets[n] ??= openAttacked(`attacked-${n}`);
    return attackOn(await targets[n], items, goOn);
  });
  turns[n] = attacked.catch(() => {});
  return attacked;
}

type Attacked = { error?: string; added: string[] };

async function attackOn(target: Target, items: readonly Stored[], goOn: boolean): Promise<Attacked> {
  const { engine, options, to, items: before } = target;
  await writeArchive(items, undefined, target);
  const deps = { ...options, folder: to, keep: everything, isVerified: true, goOn };
  const error = await importAccounts(deps).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
  const after = await allItems(engine.client);
  for (const [key, item] of before)
    if (!isDeepStrictEqual(after.get(key), item)) expect(after.get(key), key).toEqual(item); // says where
  const added = [...after].filter(([key]) => !before.has(key));
  for (const [key, item] of added) await engine.client.delete(keyOf(key, item));
  return {
    ...(error !== undefined && { error }),
    added: added.filter(([, item]) => isOfVictim(item)).map(([key]) => key),
  };
}

// The first word of a name is the table.
function keyOf(name: string, item: Attributes): { TableName: string; Key: Attributes } {
  const table = accountTables.find(one => name.startsWith(`${one.name} `))!;
  return { TableName: table.name, Key: keyIn(table, item) };
}

// Ids within the account or the tenant that owns the item, ids of other programs, and names that are only shown.
export const harmless = [
  ...[
    'githubId',
    'googleId',
    'stripeCustomerId',
    'stripeSubId',
    'clientId',
    'client_id',
    'stripeEventId',
    'kid',
  ],
  ...[
    'keyId',
    'sessionId',
    'session_id',
    'auditId',
    'deviceId',
    'passkeyId',
    'rawId',
    'mailId',
    'invitationId',
  ],
  ...[
    'creationId',
    'creation_id',
    'credentialId',
    'requestId',
    'request_id',
    'request_key',
    'rotationId',
    'alertRotationId',
  ],
  ...['organisationId', 'linkUserId', 'linkSessionId'], // of a sign-in that is in no archive
  ...['invitedBy', 'saved_by', 'decided_by', 'recalled_by', 'counted_by', 'invited_by', 'made_by'],
  ...[
    'dedupeId',
    'queueId',
    'jobId',
    'ofId',
    'id',
    'uid',
    'uids',
    'host_system_id',
    'unique_host_system_ids',
    'inbox_key',
  ],
  ...[
    'withdrawn_ids',
    'user_id',
    'erasure_id',
    'invitation_id',
    'sign_in_id',
    'channel_id',
    'conversation_id',
  ],
  ...[
    'message_id',
    'message_ids',
    'approval_id',
    'turn_id',
    'tool_call_id',
    'fact_id',
    'task_id',
    'task_ids',
  ],
  ...['parent_id', 'subtask_ids', 'series_id', 'bulk_id'],
];
