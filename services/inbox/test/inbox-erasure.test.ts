import { manualOwners } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInbox } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { startConsumers } from './consumers.ts';
import { createTestServer, fill, hello, main, storedOf, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  for (const inbox of ['main', 'news']) await server.ask('PUT', inbox, { send: main });
});
afterEach(() => server.close());

const stored = () => storedOf(server);
const runDue = () => server.inbox.operations.runDue();

describe('deleting an inbox', () => {
  it('is refused to read-only keys and to other accounts', async () => {
    expect((await server.ask('DELETE', 'main', { as: 'reader' })).status).toBe(403);
    expect((await server.ask('DELETE', 'main', { as: 'bob' })).status).toBe(404);
    expect((await server.ask('DELETE', 'nowhere')).status).toBe(404);
    expect((await server.ask('GET', 'main/erasure')).body.code).toBe('inbox.erasure_not_found');
  });

  it('hides it at once from everyone, erases everything, and leaves others alone', async () => {
    await fill(server);
    await server.ask('POST', 'news/broadcasts', { send: hello });
    const others = (await server.ask('GET', 'news/users/u1/messages')).body.data;
    const { status, body } = await server.ask('DELETE', 'main');
    expect([status, body.status]).toEqual([202, 'erasing']);
    for (const path of ['main', 'main/users/u1/counts', 'main/users/u1/messages', 'main/public-counts'])
      expect((await server.ask('GET', path)).body.code).toBe('inbox.not_found');
    const send = { ...hello, uids: ['u1'] };
    expect((await server.ask('POST', 'main/messages', { send })).body.code).toBe('inbox.not_found');
    expect((await server.ask('PUT', 'main', { send: main })).body.code).toBe('inbox.being_erased');
    expect((await server.ask('GET', '/v1/tenants/acme/inboxes')).body.data).toMatchObject([
      { inbox_key: 'news' },
    ]);
    expect((await server.ask('DELETE', 'main')).status).toBe(202);

    await runDue();
    const progress = (await server.ask('GET', 'main/erasure')).body as unknown as { erased: number };
    expect(progress).toMatchObject({ status: 'erasing', finishedat: null });
    expect(progress.erased).toBeGreaterThan(100);
    await server.clock.advance(limits.quietMs);
    await runDue();
    expect((await server.ask('GET', 'main/erasure')).body.status).toBe('erased');
    expect(await stored()).toEqual([]);
    expect((await server.ask('GET', 'news/users/u1/messages')).body.data).toEqual(others);

    expect((await server.ask('PUT', 'main', { send: main })).status).toBe(200);
    expect((await server.ask('GET', 'main/users/u1/messages')).body.data).toEqual([]);
    await server.ask('POST', 'main/messages', { send: { ...send, host_system_id: 'H-1' } });
    expect((await server.ask('GET', 'main/users/u1/messages')).body.data).toHaveLength(1);
  });

  it('resumes after its worker was killed, at any write', async () => {
    await fill(server);
    await server.ask('DELETE', 'main');
    const { client } = server.engine;
    const { transactWrite, update } = client;
    for (let kill = 0; (await stored()).length > 0; kill++) {
      let left = kill % 7;
      const dying =
        <I, O>(write: (input: I) => Promise<O>) =>
        async (input: I): Promise<O> => {
          if (left-- === 0) throw new Error('killed');
          return write(input);
        };
      Object.assign(client, { transactWrite: dying(transactWrite), update: dying(update) });
      await runDue();
      Object.assign(client, { transactWrite, update });
      await server.clock.advance(limits.leaseMs + limits.quietMs);
    }
    expect((await server.ask('GET', 'main/erasure')).body.status).toBe('erased');
  });

  it('resumes at once when its process has died', async () => {
    await fill(server);
    await server.ask('DELETE', 'main');
    const { client } = server.engine;
    const { transactWrite, batchWrite } = client;
    const killed = () => Promise.reject(new Error('killed'));
    Object.assign(client, { transactWrite: killed, batchWrite: killed });
    const owners = manualOwners();
    const stopping = new AbortController();
    const run = (name: string) =>
      createInbox({ ...server.deps, owners: owners.as(name) }).workers[0]!.run(stopping.signal);
    const running = [run('victim')];
    await expect.poll(() => server.clock.sleepers()).toBe(1);
    Object.assign(client, { transactWrite, batchWrite });
    running.push(run('heir'));
    await expect.poll(() => server.clock.sleepers()).toBe(2);
    const erased = async () =>
      (await server.ask('GET', 'main/erasure')).body as unknown as { erased: number };
    expect((await erased()).erased).toBe(0);
    owners.end('victim');
    await expect.poll(async () => (await erased()).erased).toBeGreaterThan(0);
    stopping.abort();
    await Promise.all(running);
  });

  it('finds messages that were in flight when it began', async () => {
    const { client } = server.engine;
    const { transactWrite } = client;
    let release = () => {};
    const held = new Promise<void>(resolve => (release = resolve));
    let isHeld = () => {};
    const reached = new Promise<void>(resolve => (isHeld = resolve));
    client.transactWrite = async input => {
      client.transactWrite = transactWrite;
      isHeld();
      await held;
      return transactWrite(input);
    };
    const publishing = server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'] } });
    await reached;
    await server.ask('DELETE', 'main');
    await runDue();
    release();
    expect((await publishing).status).toBe(201);
    await server.clock.advance(limits.quietMs);
    await runDue();
    await server.clock.advance(limits.quietMs);
    await runDue();
    expect((await server.ask('GET', 'main/erasure')).body.status).toBe('erased');
    expect(await stored()).toEqual([]);
  });

  it('does not stop stream handlers', async () => {
    await fill(server);
    const consumers = startConsumers(server);
    await server.ask('POST', 'main/users/u1/read', { send: {} });
    await server.ask('DELETE', 'main');
    await runDue();
    const { id } = (await server.ask('POST', 'news/messages', { send: { ...hello, uids: ['u1'] } })).body;
    await server.ask('PUT', `news/users/u1/messages/${id}/read`);
    const readOf = async () =>
      ((await server.ask('GET', `news/sends/${id}`)).body as unknown as { read: number }).read;
    await consumers.until(async () => (await readOf()) === 1);
    await consumers.stop();
  });

  it('keeps the number of members if an erased user gets a message meanwhile', async () => {
    await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1', 'u2'] } });
    const { client } = server.engine;
    const { transactGet } = client;
    client.transactGet = async input => {
      client.transactGet = transactGet;
      const found = await transactGet(input);
      await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'] } });
      return found;
    };
    while ((await server.inbox.eraser.eraseUser('acme', 'u1')) === 'more');
    expect((await server.ask('GET', 'main/public-counts')).body).toMatchObject({ members: 1 });
    expect((await server.ask('GET', 'main/users/u1/counts')).body).toMatchObject({ total: 0 });
  });
});
