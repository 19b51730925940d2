import { manualOwners } from '@stak/kit';
import { tableErrors } from '@stak/table';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNotes,
  fillTenant,
  graceMs,
  killedAt,
  leaseMs,
  leftOf,
  runWorker,
  runWorkers,
} from './erasure-fixture.ts';
import { everyItem, type Fixture, openFixture, openProcess, targets } from './tenants-fixture.ts';

const tombstoneOf = (id: string) => [`TENANT#${id} ERASURE#era`, `TENANT#${id} META`];

describe.each(Object.entries(targets))('deleting a tenant, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
  });
  afterAll(() => fixture.target.close());

  it('closes the gate at once and erases everything after the grace period', async () => {
    const notes = createNotes();
    fixture.erasers.push(notes.eraser);
    await fillTenant(fixture, 'whole');
    notes.add('whole', 'u1', 5);
    // A mapping without a claim, as a program that knows only the document writes it.
    const planted = { pk: 'TENANT#whole', sk: 'CHANNEL#teams#planted' };
    const Item = { ...planted, gsi1pk: 'CHANNEL#teams#planted', gsi1sk: 'TENANT#whole' };
    await fixture.target.client.put({ TableName: 'tenants', Item });
    notes.add('other', 'u1', 1);
    const { status, body, headers } = await fixture.call('DELETE', '/v1/tenants/whole');
    expect(status).toBe(202);
    expect(body).toMatchObject({ subject: 'tenant', status: 'waiting', steps: ['notes', 'tenants'] });
    const job = headers.get('location')!;

    expect((await fixture.call('GET', '/v1/tenants/whole')).status).toBe(404);
    expect((await fixture.call('GET', '/v1/tenants/whole/users')).status).toBe(404);
    expect((await fixture.call('GET', '/v1/tenants')).body.data).toEqual([]);
    expect(await fixture.call('DELETE', '/v1/tenants/whole')).toMatchObject({ status: 202, body });
    expect((await fixture.call('DELETE', '/v1/tenants/whole', { as: 'bob' })).status).toBe(404);
    await runWorker(fixture);
    expect((await fixture.call('GET', job)).body.status).toBe('waiting');

    await fixture.clock.advance(graceMs);
    await runWorker(fixture);
    expect((await fixture.call('GET', job)).body).toMatchObject({
      status: 'done',
      steps_done: ['notes', 'tenants'],
      finished_at: expect.any(String),
    });
    expect((await fixture.call('GET', job, { as: 'bob' })).status).toBe(404);
    expect([...notes.notes.keys()]).toEqual(['other/u1/0']);
    expect(await leftOf(fixture.target, 'whole')).toEqual(tombstoneOf('whole'));
    expect(JSON.stringify(await everyItem(fixture.target))).not.toContain('Secret name');
  });

  it('erases what is due, whatever another program wrote among it', async () => {
    const { client } = fixture.target;
    const broken = [{}, { steps: ['notes'], failures: Number.MAX_SAFE_INTEGER }];
    const keys = (pk: string) => broken.map((_, n) => ({ pk, sk: `ERASURE#era_0${n}` }));
    for (const [n, fields] of broken.entries())
      for (const key of [keys('TENANT#odd')[n]!, keys('ERASURES')[n]!]) {
        const job = { tenant_id: 'odd', erasure_id: `era_0${n}`, due_at: 0, version: 1, ...fields };
        await client.put({ TableName: 'tenants', Item: { ...key, ...job } });
      }
    await fillTenant(fixture, 'plain');
    const { headers } = await fixture.call('DELETE', '/v1/tenants/plain');
    await fixture.clock.advance(graceMs);
    expect(await runWorker(fixture)).toBeUndefined();
    expect((await fixture.call('GET', headers.get('location')!)).body.status).toBe('done');
    for (const Key of keys('ERASURES')) await client.delete({ TableName: 'tenants', Key });
  });

  it('keeps its id for good, but not its channels', async () => {
    for (const as of ['ann', 'bob']) {
      const send = { tenant_id: 'whole', name: 'Again' };
      expect((await fixture.call('POST', '/v1/tenants', { as, send })).status).toBe(409);
    }
    await fixture.call('POST', '/v1/tenants', { as: 'bob', send: { tenant_id: 'heir', name: 'Heir' } });
    const send = { type: 'slack', channel_id: 'whole-one' };
    expect((await fixture.call('POST', '/v1/tenants/heir/channels', { as: 'bob', send })).status).toBe(201);
  });
});

describe('a deletion', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
  });
  afterAll(() => fixture.target.close());

  it.each(['before', 'after'] as const)('survives being killed %s any of its calls', async when => {
    let n = 0;
    for (; ; n++) {
      const id = `killed-${when}-${n}`;
      const notes = createNotes();
      await fillTenant(fixture, id);
      notes.add(id, 'u1', 3);
      const { headers } = await fixture.call('DELETE', `/v1/tenants/${id}`);
      await fixture.clock.advance(graceMs);

      const { client, wasKilled } = killedAt(fixture.target.client, n, when);
      const doomed = openProcess(fixture.target, { clock: fixture.clock, client });
      doomed.erasers.push(notes.eraser);
      await runWorker(doomed);

      const heir = openProcess(fixture.target, { clock: fixture.clock });
      heir.erasers.push(notes.eraser);
      await fixture.clock.advance(leaseMs);
      expect(await runWorker(heir)).toBeUndefined();
      expect((await heir.call('GET', headers.get('location')!)).body.status).toBe('done');
      expect([n, await leftOf(fixture.target, id)]).toEqual([n, tombstoneOf(id)]);
      expect(notes.notes.size).toBe(0);
      if (!wasKilled()) break;
    }
    expect(n).toBeGreaterThan(8);
    expect((await everyItem(fixture.target)).filter(item => item.pk === 'ERASURES')).toEqual([]);
  });

  it('resumes at once if its process has died', async () => {
    const owners = manualOwners();
    const notes = createNotes();
    await fillTenant(fixture, 'left');
    const { headers } = await fixture.call('DELETE', '/v1/tenants/left');
    await fixture.clock.advance(graceMs);
    const { client } = killedAt(fixture.target.client, 3, 'before');
    const doomed = openProcess(fixture.target, { clock: fixture.clock, client, owners: owners.as('doomed') });
    doomed.erasers.push(notes.eraser);
    await runWorker(doomed);
    const heir = openProcess(fixture.target, { clock: fixture.clock, owners: owners.as('heir') });
    heir.erasers.push(notes.eraser);
    await runWorker(heir);
    const status = async () => (await heir.call('GET', headers.get('location')!)).body.status;
    expect(await status()).toBe('running');
    owners.end('doomed');
    await runWorker(heir);
    expect(await status()).toBe('done');
  });

  it.each(['before', 'after'] as const)(
    'can be requested again when the response was lost %s',
    async when => {
      const id = `asked-${when}`;
      await fillTenant(fixture, id);
      const { client } = killedAt(fixture.target.client, 1, when); // the first call reads the count
      const doomed = openProcess(fixture.target, { clock: fixture.clock, client });
      expect((await doomed.call('DELETE', `/v1/tenants/${id}`)).status).toBe(500);
      expect((await fixture.call('GET', `/v1/tenants/${id}`)).status).toBe(when === 'before' ? 200 : 404);
      expect((await fixture.call('DELETE', `/v1/tenants/${id}`)).status).toBe(202);
      const jobs = (await everyItem(fixture.target)).filter(
        one => one.pk === 'ERASURES' && one.tenant_id === id,
      );
      expect(jobs).toHaveLength(1);
    },
  );

  it('is shared by processes, one at a time', async () => {
    const notes = createNotes();
    const processes = Array.from({ length: 3 }, () => openProcess(fixture.target, { clock: fixture.clock }));
    for (const one of processes) one.erasers.push(notes.eraser);
    await fillTenant(fixture, 'shared');
    notes.add('shared', 'u1', 9);
    const { headers } = await fixture.call('DELETE', '/v1/tenants/shared');
    await fixture.clock.advance(graceMs);
    await runWorkers(processes);
    expect((await fixture.call('GET', headers.get('location')!)).body.status).toBe('done');
    expect([notes.notes.size, notes.mostAtOnce()]).toEqual([0, 1]);
  });

  it('is not done while a service fails or is missing', async () => {
    const fresh = openProcess(fixture.target, { clock: fixture.clock });
    const notes = createNotes();
    let isDown = true;
    let down = new Error('down');
    fresh.erasers.push(notes.eraser, {
      name: 'shaky',
      async eraseTenant() {
        if (isDown) throw down;
        return 'done';
      },
    });
    await fillTenant(fresh, 'stuck');
    const { headers } = await fresh.call('DELETE', '/v1/tenants/stuck');
    const job = async () => (await fresh.call('GET', headers.get('location')!)).body;
    await fixture.clock.advance(graceMs);
    await runWorker(fresh);
    expect(await job()).toMatchObject({ status: 'running', failures: 1, steps_done: ['notes'] });
    expect(fresh.lines.join()).toContain('an erasure failed');

    const without = openProcess(fixture.target, { clock: fixture.clock });
    await fixture.clock.advance(30_000);
    await runWorker(without);
    expect(await job()).toMatchObject({ status: 'running', failures: 2 });

    down = tableErrors.create('table.busy', 'the table is too busy');
    await fixture.clock.advance(60_000);
    await runWorker(fresh);
    expect(await job()).toMatchObject({ status: 'running', failures: 2 });

    isDown = false;
    await fixture.clock.advance(60_000);
    await runWorker(fresh);
    expect(await job()).toMatchObject({
      status: 'done',
      failures: 0,
      steps_done: ['notes', 'shaky', 'tenants'],
    });
  });

  it('includes services that were added after the request', async () => {
    const fresh = openProcess(fixture.target, { clock: fixture.clock });
    await fillTenant(fresh, 'early');
    await fresh.call('DELETE', '/v1/tenants/early');
    const notes = createNotes();
    notes.add('early', 'u1', 1);
    fresh.erasers.push(notes.eraser);
    await fixture.clock.advance(graceMs);
    await runWorker(fresh);
    expect(notes.notes.size).toBe(0);
  });

  it('is started for all tenants of a deleted account', async () => {
    const ids = Array.from({ length: 27 }, (_, i) => `of-bob-${i}`);
    for (const tenant_id of ids)
      await fixture.call('POST', '/v1/tenants', { as: 'bob', send: { tenant_id, name: 'X' } });
    const { eraser } = fixture.tenants;
    expect([await eraser.eraseAccount('usr_bob'), await eraser.eraseAccount('usr_bob')]).toEqual([
      'more',
      'done',
    ]);
    expect((await fixture.call('GET', '/v1/tenants', { as: 'bob' })).body.data).toEqual([]);
    await fixture.clock.advance(graceMs);
    await runWorker(openProcess(fixture.target, { clock: fixture.clock }));
    expect(await leftOf(fixture.target, 'of-bob-26')).toEqual(tombstoneOf('of-bob-26'));
  });
});
