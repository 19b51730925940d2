import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ferryhookEvents } from '../src/index.ts';
import { openDestination } from './destination.ts';
import { openWebhooks, until } from './webhooks-fixture.ts';

const source = fileURLToPath(new URL('../src', import.meta.url));
const architecture = readFileSync(new URL('../../../docs/ARCHITECTURE.md', import.meta.url), 'utf8');
const section = /## The walk of a webhook\n(.*?)\n## /s.exec(architecture)![1]!;
const [walk = '', beside = ''] = section.split('Not on this path:');
const steps = [...walk.matchAll(/^\| (\d+) \| \[?`([^`]+)`/gm)].map(([, , path]) => path!);

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

it('the walk of a webhook is the one that ARCHITECTURE.md shows, in 20 steps or fewer', async () => {
  const hooks = await openWebhooks();
  const destination = await openDestination();
  const signingSecret = 'a secret of GitHub';
  const sourceId = await hooks.source({ provider: 'github', signingSecret });
  await hooks.connect(sourceId, destination.url);
  const recorded = async () => {
    const { Items = [] } = await hooks.engine.client.scan({ TableName: ferryhookEvents.name });
    return Items.filter(({ attemptNumber }) => attemptNumber === 1).length;
  };
  const send = async (count: number) => {
    const body = JSON.stringify({ count });
    const signature = createHmac('sha256', signingSecret).update(body).digest('hex');
    await hooks.send(sourceId, body, {
      'X-GitHub-Event': 'push',
      'X-Hub-Signature-256': `sha256=${signature}`,
    });
    await until(async () => (await recorded()) === count);
  };
  await send(1); // warms the caches
  const ran = await filesThatRun(() => send(2));

  expect(steps.length).toBeLessThanOrEqual(20);
  const files = steps.filter(path => path.endsWith('.ts'));
  expect(files.filter(path => !ran.includes(path))).toEqual([]);
  // Of `count-tables.ts`, names are passed on by `tables.ts`.
  const named = (path: string) =>
    files.includes(path) ||
    beside.includes(`\`${path}\``) ||
    /\b(limits|errors|index|count-tables)\.ts$/.test(path);
  expect(ran.filter(path => !named(path))).toEqual([]);
});
