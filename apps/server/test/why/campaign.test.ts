import { type Client, StakError } from '@stak/client';
import { seededRandom } from '@stak/kit';
import { expect, onTestFinished, test } from 'vitest';
import { type Customer, type Fixture, openFixture, why } from './why-fixture.ts';

// Random histories over all services: of everything that was written because of something, there is one chain to its
// root, and none leads to somebody else. STAK_LONG_TESTS=1 tells five times as many, and longer ones.

const isLong = process.env.STAK_LONG_TESTS === '1';
const seeds = isLong ? [1, 2, 3, 4, 5] : [1];
const steps = isLong ? 80 : 24;
const patience = { timeout: 60_000, interval: 500 };

type Told = { eventIds: string[]; taskIds: string[]; stranger: Customer; foreign: Set<string> };

// What may happen to a customer. Each returns nothing: what came of it is found in the store.
function happenings(fixture: Fixture, me: Customer, random: () => number, told: Told) {
  const { tenant_id, host } = me;
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const conversation = { tenant_id, conversation_id: `talk-${Math.floor(random() * 3)}` };
  const rememberTask = ({ data }: { data: { task_id: string } }) => void told.taskIds.push(data.task_id);
  return [
    async () => void told.eventIds.push(await fixture.ingest(me.shop, { type: `kind.${random()}` })),
    async () => rememberTask(await host().tasks.create({ body: { title: 'Alone' } })),
    async () => {
      const cause = pick([...told.eventIds, ...told.taskIds]);
      if (cause) rememberTask(await host().tasks.create({ body: { title: 'Caused' }, 'stak-cause': cause }));
    },
    async () => {
      const cause = await fixture.ingest(told.stranger.shop, { type: 'theirs' });
      const made = await host().tasks.create({ body: { title: 'Astray' }, 'stak-cause': cause });
      told.foreign.add(cause);
      rememberTask(made);
    },
    async () => {
      const body = { title: 'Again', due_date: '2026-01-01', recurrence: 'FREQ=DAILY' };
      const { data } = await host().tasks.create({ body });
      await host().tasks.update({ task_id: data.task_id, body: { status: 'completed' } });
    },
    async () => {
      const at = new Date(Date.now() + 1_000).toISOString();
      rememberTask(await host().tasks.create({ body: { title: 'Remind', reminder: { at } } }));
    },
    async () => {
      const body = { content: pick(['create task: one', 'create task: two', 'hello'])!, user_id: 'bob' };
      const { data } = await host().agents.sendMessage({ ...conversation, body });
      const approvals = 'approvals' in data ? (data.approvals ?? []) : [];
      for (const { approval_id } of approvals)
        await host().agents.decideApproval({
          ...conversation,
          approval_id,
          body: { approved: random() < 0.7 },
        });
    },
    async () => {
      const eventId = pick(told.eventIds);
      if (eventId) await host().webhooks.replayEvent({ eventId, body: {} });
    },
    async () => {
      const eventIds = told.eventIds.slice(-2);
      if (eventIds.length > 0)
        await host().webhooks.createJob({ sourceId: me.shop, body: { action: 'replay', eventIds } });
    },
    async () => {
      const cause = pick(told.eventIds);
      const inbox = { tenant_id, inbox_key: 'news' };
      await host().inbox.writeInbox({ ...inbox, body: { title: 'News' } });
      const body = { uids: ['bob'], message: { title: 'News', body: 'Rugs' } };
      await host().inbox.publish({ ...inbox, body, ...(cause && { 'stak-cause': cause }) });
    },
  ];
}

// Everything that a table has, as ids.
async function storedIds({ store }: Fixture): Promise<string[]> {
  const ids: string[] = [];
  for (const [pk, sk] of await store!.keys('ferryhook-events')) {
    const [, eventId] = pk.split('#');
    const [kind, connectionId, run, number] = sk.split('#');
    if (kind === 'DLV') ids.push(`delivery:${eventId}/${connectionId}/${Number(run)}`);
    if (kind === 'ATT') ids.push(`attempt:${eventId}/${connectionId}/${Number(run)}/${Number(number)}`);
    if (kind === 'EVT') ids.push(`event:${run}`);
  }
  for (const [pk, sk] of await store!.keys('todo-app-data'))
    if (pk.startsWith('TASK#')) ids.push(`task:${pk.slice(5)}/${sk.slice(5)}`);
  for (const [pk, sk] of await store!.keys('conversations')) {
    const [, tenant, conversation] = pk.split('#');
    const [kind, ...rest] = sk.split('#');
    if (kind === 'TURN') ids.push(`turn:${tenant}/${conversation}/${rest.map(Number).join('/')}`);
    if (kind === 'MSG') ids.push(`chat:${tenant}/${conversation}/${rest[0]}`);
    if (kind === 'APPROVAL') ids.push(`approval:${tenant}/${conversation}/${rest[0]}`);
  }
  return ids;
}

const see = async (client: Client, id: string) =>
  why(client, id).catch(error => {
    if (error instanceof StakError && error.status === 404) return undefined;
    throw error;
  });

test.each(seeds.flatMap(seed => (['memory', 'aws'] as const).map(kind => [seed, kind] as const)))(
  'histories of seed %i, on the store "%s"',
  { timeout: isLong ? 900_000 : 180_000 },
  async (seed, kind) => {
    const random = seededRandom(seed);
    const fixture = await openFixture(kind);
    onTestFinished(() => fixture.close());
    const customers = [await fixture.signUp('ann'), await fixture.signUp('eve')];
    const told = customers.map(
      (_, i): Told => ({ eventIds: [], taskIds: [], stranger: customers[1 - i]!, foreign: new Set() }),
    );
    for (let step = 0; step < steps; step++) {
      const at = random() < 0.5 ? 0 : 1;
      const possible = happenings(fixture, customers[at]!, random, told[at]!);
      await possible[Math.floor(random() * possible.length)]!();
      if (fixture.store && random() < 0.05) await fixture.restart();
    }

    // Until nothing follows any more.
    const roots = told.map(({ eventIds, taskIds }) => [...eventIds, ...taskIds]);
    const reachable = async () => {
      const ids: string[][] = [];
      for (const [i, { host }] of customers.entries()) {
        const found = new Set<string>();
        for (const id of roots[i]!) {
          const { chain, followed } = await why(host(), id);
          for (const node of [...chain, ...followed])
            if (node.id !== null && node.what !== 'not stored any more') found.add(node.id);
        }
        ids.push([...found].sort());
      }
      return ids;
    };
    let before = await reachable();
    await expect
      .poll(
        async () => {
          const now = await reachable();
          const isQuiet = JSON.stringify(now) === JSON.stringify(before);
          before = now;
          return isQuiet;
        },
        { ...patience, interval: 2_500 },
      )
      .toBe(true);

    const stored = fixture.store ? await storedIds(fixture) : [];
    const owners = new Map<string, number>();
    for (const id of new Set([...before.flat(), ...stored])) {
      const answers = await Promise.all(customers.map(({ host }) => see(host(), id)));
      const seen = answers.flatMap((answer, i) => (answer ? [{ answer, i }] : []));
      expect(seen, `${id} is one customer's`).toHaveLength(1);
      const { answer, i } = seen[0]!;
      const { chain } = answer;
      owners.set(id, i);
      expect(chain.at(-1)!.id).toBe(id);
      expect(new Set(chain.map(one => one.id)).size, `${id}: each once`).toBe(chain.length);
      const [root, ...rest] = chain;
      for (const node of rest) expect(node, id).not.toMatchObject({ what: 'not stored any more' });
      if (root!.what === 'not stored any more')
        expect([...told[i]!.foreign].map(one => `event:${one}`)).toContain(root!.id);
      // The chain of each cause is the beginning of this one: there is no second one.
      for (const [at, node] of chain.entries()) {
        if (node.id === null || at === chain.length - 1 || node.what === 'not stored any more') continue;
        const above = await why(customers[i]!.host(), node.id);
        expect(above.chain.map(one => one.id)).toEqual(chain.slice(0, at + 1).map(one => one.id));
      }
    }
    // Nothing that was reached is the other one's.
    for (const [i, ids] of before.entries())
      for (const id of ids) expect([id, owners.get(id)]).toEqual([id, i]);
    expect(owners.size).toBeGreaterThan(steps);
  },
);
