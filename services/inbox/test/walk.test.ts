import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readEvents, startConsumers } from './consumers.ts';
import { createTestServer, hello, main } from './test-server.ts';

const source = fileURLToPath(new URL('../src', import.meta.url));
const architecture = readFileSync(new URL('../../../docs/ARCHITECTURE.md', import.meta.url), 'utf8');
const section = /## The walk of a message\n(.*?)\n## /s.exec(architecture)![1]!;
const steps = [...section.matchAll(/^\| (\d+) \| \[?`([^`]+)`/gm)].map(([, , path]) => path!);

// The files of this service in which a function runs meanwhile, as V8 counts it.
async function filesThatRun(work: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ ranges: [whole] }) => whole!.count > 0))
    .map(({ url }) => relative(source, url.replace(/^file:\/\//, '')))
    .filter(path => !path.startsWith('..') && path.endsWith('.ts'));
}

it('the walk of a message is the one that ARCHITECTURE.md shows, in 20 steps or fewer', async () => {
  const server = await createTestServer();
  const consumers = startConsumers(server);
  await server.ask('PUT', 'main', { send: main });
  const open = new AbortController();
  const stream = await server.call('GET', 'main/users/me/stream', { as: 'acme-u1', signal: open.signal });
  const events = readEvents(stream);
  const send = async (path: string, body: object) => {
    const { status } = await server.ask('POST', path, { send: { ...hello, ...body } });
    expect(status).toBe(201);
    while ((await events.take(1))[0]!.event !== 'message');
  };
  const publish = async () => {
    await send('main/messages', { taxonomy: { category: 'offer' }, uids: ['u1'] });
    await send('main/broadcasts', {});
  };
  await publish(); // warms the caches
  const ran = await filesThatRun(publish);
  open.abort();
  await consumers.stop();
  await server.close();

  expect(steps.length).toBeLessThanOrEqual(20);
  const files = steps.filter(path => path.endsWith('.ts'));
  expect(files.filter(path => path !== 'schema.ts' && !ran.includes(path))).toEqual([]);
  const named = (path: string) =>
    section.includes(`\`${path}\``) || /\b(limits|errors|tables|index)\.ts$/.test(path);
  expect(ran.filter(path => !named(path))).toEqual([]);
});
