import { setImmediate } from 'node:timers/promises';
import type { DynamoClient } from '@stak/table';
import type { Eraser } from '../src/index.ts';
import { everyItem, type Fixture, type Target } from './tenants-fixture.ts';

// Another service: notes of users, which it erases two a call.
export function createNotes() {
  const notes = new Map<string, string[]>();
  let atOnce = 0;
  let mostAtOnce = 0;
  const eraseSome = async (isMeant: (key: string) => boolean) => {
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    await setImmediate();
    atOnce -= 1;
    const keys = [...notes.keys()].filter(isMeant);
    for (const key of keys.slice(0, 2)) notes.delete(key);
    return keys.length > 2 ? ('more' as const) : ('done' as const);
  };
  const eraser: Eraser = {
    name: 'notes',
    eraseTenant: tenantId => eraseSome(key => key.startsWith(`${tenantId}/`)),
    eraseUser: (tenantId, userId) => eraseSome(key => key.startsWith(`${tenantId}/${userId}/`)),
    async *exportUser(tenantId, userId) {
      for (const [key, lines] of notes)
        if (key.startsWith(`${tenantId}/${userId}/`)) for (const item of lines) yield { kind: 'note', item };
    },
  };
  const add = (tenantId: string, userId: string, count: number) => {
    for (let i = 0; i < count; i++) notes.set(`${tenantId}/${userId}/${i}`, [`note ${i}`]);
  };
  return { eraser, add, notes, mostAtOnce: () => mostAtOnce };
}

// Lets the worker of each process run until all have nothing to do, or died. The processes share a clock: one that
// sleeps must not end the others.
export async function runWorkers(processes: readonly Fixture[]): Promise<unknown[]> {
  const control = new AbortController();
  let running = processes.length;
  const ends = processes.map(async ({ tenants }) => {
    try {
      await tenants.workers[0]!.run(control.signal);
      return undefined;
    } catch (error) {
      return control.signal.aborted && error === control.signal.reason ? undefined : error;
    } finally {
      running -= 1;
    }
  });
  while (processes[0]!.clock.sleepers() < running) await setImmediate();
  control.abort();
  return Promise.all(ends);
}

export const runWorker = async (fixture: Fixture): Promise<unknown> => (await runWorkers([fixture]))[0];

export const graceMs = 60_000;
export const leaseMs = 60_000;

// A process that is killed at its nth call, before the call arrives or after it was carried out: the call fails,
// and so does everything the process tries after it.
export function killedAt(client: DynamoClient, n: number, when: 'before' | 'after') {
  let calls = 0;
  const wrap =
    (operation: (input: never) => Promise<unknown>) =>
    async (input: never): Promise<unknown> => {
      const call = calls++;
      if (call > n || (call === n && when === 'before')) throw new Error('killed');
      const answer = await operation(input);
      if (call === n) throw new Error('killed');
      return answer;
    };
  const wrapped = Object.fromEntries(
    Object.entries(client)
      .filter(([, operation]) => typeof operation === 'function')
      .map(([name, operation]) => [name, wrap(operation as never)]),
  );
  return { client: wrapped as DynamoClient, wasKilled: () => calls > n };
}

// A tenant with something of every kind.
export async function fillTenant({ call }: Fixture, tenant_id: string, as = 'ann'): Promise<void> {
  const at = (path: string) => `/v1/tenants/${tenant_id}/${path}`;
  await call('POST', '/v1/tenants', { as, send: { tenant_id, name: 'Secret name', status: 'active' } });
  for (const user_id of ['u1', 'u2', 'u3']) {
    const email = `${user_id}@example.com`;
    const channel_identities = { slack: user_id.toUpperCase() };
    await call('POST', at('users'), {
      as,
      send: { user_id, display_name: 'X', email, channel_identities },
    });
  }
  for (const channel_id of ['one', 'two'])
    await call('POST', at('channels'), {
      as,
      send: { type: 'slack', channel_id: `${tenant_id}-${channel_id}` },
    });
  await call('POST', at('invitations'), { as, send: { email: 'invited@example.com' } });
  await call('PUT', at('properties-schema'), { as, send: { type: 'object' } });
  await call('POST', at('tokens/revoke'), { as, send: { sub: 'u1' } });
}

// The items in which a tenant still is, wherever they lie.
export async function leftOf(target: Target, tenant_id: string): Promise<string[]> {
  const items = await everyItem(target);
  return items
    .filter(
      item =>
        item.pk === `TENANT#${tenant_id}` ||
        item.tenant_id === tenant_id ||
        JSON.stringify(item).includes(`${tenant_id}-`),
    )
    .map(item => `${item.pk} ${String(item.sk).replace(/_\w+$/, '')}`)
    .sort();
}
