import { deepStrictEqual } from 'node:assert';
import * as limits from '../../src/limits.ts';
import { findSend } from '../../src/publish/send-records.ts';
import { inboxCategories } from '../../src/tables.ts';
import type { Actor } from './actor.ts';
import { users } from './commands.ts';
import { type Fixture, handleRecords } from './fixture.ts';

// Every count that is stored, as it stands in the table, whatever the service makes of it.

type Stored = { pk: string; sk: string } & Record<string, unknown>;

const tableName = 'stak-inbox';

async function itemsAt(fixture: Fixture, partition: string, prefix: string): Promise<Stored[]> {
  const { Items = [] } = await fixture.client.query({
    TableName: tableName,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
    ExpressionAttributeValues: { ':pk': partition, ':sk': prefix },
    ConsistentRead: true,
  });
  return Items as Stored[];
}

const countsAt = async (fixture: Fixture, partition: string): Promise<Record<string, Stored>> =>
  Object.fromEntries((await itemsAt(fixture, partition, 'c#')).map(item => [item.sk.slice(2), item]));

const keyOf = (fixture: Fixture, kind: string, uid = ''): string =>
  `t#${fixture.inboxId.tenant_key}${kind}#${uid}${fixture.inboxId.inbox_key}`;

const picked = <Name extends string>(stored: Record<string, Stored>, ...names: Name[]) =>
  Object.fromEntries(
    Object.entries(stored)
      .filter(([key, item]) => key === '*' || item.published !== 0)
      .map(([key, item]) => [key, Object.fromEntries(names.map(name => [name, item[name]]))]),
  );

// A user's own messages are counted as of now: asking for the counts has settled what had expired. What
// is in a category that is being deleted is still stored, and counted in it and in all, until the worker was there.
export async function checkUser(fixture: Fixture, actor: Actor, uid: string): Promise<void> {
  const stored = picked(await countsAt(fixture, keyOf(fixture, 'U', `${uid}#`)), 'published', 'read');
  const known = await fixture.store.get(inboxCategories, fixture.inboxId, { consistent: true });
  for (const category of known?.deleting ?? []) {
    if (!Object.hasOwn(stored, category)) continue;
    for (const name of ['published', 'read'] as const)
      stored['*']![name] = Number(stored['*']![name]) - Number(stored[category]![name]);
    delete stored[category];
  }
  deepStrictEqual(stored, actor.model.storedCounts(uid), `stored for ${uid}`);
}

// Messages to everyone are counted as of the last write, all categories in it.
export type PublicCheck = { version?: unknown; expected: Record<string, number> };

export async function checkPublic(fixture: Fixture, actor: Actor, last: PublicCheck): Promise<void> {
  const stored = await countsAt(fixture, keyOf(fixture, 'G', '$public#'));
  const version = stored['*']?.version;
  if (version !== last.version) Object.assign(last, { version, expected: actor.model.publicCounts() });
  if (version !== undefined) deepStrictEqual(publishedOf(stored), last.expected, 'stored for everyone');
  const members = await countsAt(fixture, keyOf(fixture, 'R'));
  deepStrictEqual(members['*']?.users ?? 0, actor.model.members().length, 'members');
}

const publishedOf = (stored: Record<string, Stored>) =>
  Object.fromEntries(
    Object.entries(picked(stored, 'published')).map(([key, { published }]) => [key, published]),
  );

// Every deletion comes to its end, and leaves what was to be left.
async function endDeletions(fixture: Fixture, actor: Actor): Promise<void> {
  const isUnderWay = async () =>
    (await fixture.store.get(inboxCategories, fixture.inboxId, { consistent: true }))?.deleting?.length;
  if (!(await isUnderWay())) return;
  for (let i = 0; await isUnderWay(); i++) {
    if (i === 5) throw new Error('a category is not deleted');
    fixture.advance(limits.quietMs + limits.leaseMs);
    await actor.run({ do: 'runDue' });
  }
  for (const uid of users) {
    await actor.inbox().operations.counts({ ...fixture.inboxId, uid });
    await checkUser(fixture, actor, uid);
  }
}

// When all that has expired is removed, and the streams have said so, nothing is counted that is gone, and the numbers
// of every send are those of its readers.
export async function checkAtRest(fixture: Fixture, actor: Actor): Promise<void> {
  await endDeletions(fixture, actor);
  await fixture.sweep(0);
  const records = await fixture.readRecords();
  if (records.length === 0) return; // there is no stream to read
  for (let left = records; left.length > 0; left = await fixture.readRecords())
    await handleRecords(fixture.processes[0], left);
  const stored = await countsAt(fixture, keyOf(fixture, 'G', '$public#'));
  if (stored['*']) deepStrictEqual(publishedOf(stored), actor.model.publicCounts(), 'for everyone, at rest');
  const readers = actor.model.readers();
  const bodies = (await itemsAt(fixture, keyOf(fixture, 'S'), 't#')).map(item => item.sk.slice(2));
  deepStrictEqual(
    bodies.filter(id => !readers.has(id)),
    [],
    'bodies of messages that are gone',
  );
  for (const [id, read] of readers) {
    const found = await findSend(fixture, fixture.inboxId, id);
    if (found) deepStrictEqual(found.read, read, `readers of ${id}`);
    if (found) deepStrictEqual(found.members, actor.model.sent.get(id)?.members, `recipients of ${id}`);
  }
}
