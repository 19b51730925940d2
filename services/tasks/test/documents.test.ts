import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AnyEndpoint, type Listening, listen } from '@stak/http';
import { systemClock } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openTasks, silent } from './tasks-fixture.ts';

const guide = readFileSync(new URL('../../../docs/guides/tasks.md', import.meta.url), 'utf8');
const commands = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(match => match[1]!);

const hasCurl = spawnSync('curl', ['--version']).status === 0;

let f: Fixture;
let server: Listening;
beforeAll(async () => {
  f = await openTasks();
  server = await listen(f.api, { port: 0, clock: systemClock, log: silent });
});
afterAll(async () => {
  await server.close();
  await f.close();
});

// One shell for the whole page, as its reader has; it ends at the first command that fails.
function run(script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-e', '-c', script], { env: { ...process.env, KEY: 'ann' } });
    let output = '';
    shell.stdout.on('data', data => {
      output += data;
    });
    shell.on('error', reject);
    shell.on('close', code => (code === 0 ? resolve(output) : reject(new Error(`${code}: ${output}`))));
  });
}

describe('the guide', () => {
  it.skipIf(!hasCurl)('runs as written (needs curl)', async () => {
    const url = `http://127.0.0.1:${server.port}`;
    const script = commands
      .join('\n')
      .replaceAll('curl -s ', 'curl -sf -w "\\n" ')
      .replace('http://127.0.0.1:8787', url);
    const output = await run(script);
    for (const part of [
      'Buy milk',
      'Weekly report',
      'Oat milk',
      '"ok":true',
      'Buy bread',
      'Europe/Berlin',
      'task_id,title',
    ])
      expect(output).toContain(part);
  });
});

describe('the OpenAPI document', () => {
  it('says of every route that the user may be busy', () => {
    const endpoints: readonly AnyEndpoint[] = f.tasks.api;
    for (const { route } of endpoints) expect(route.problems, route.operationId).toContain('tasks.busy');
  });

  it('has every route, with a unique name', () => {
    const { paths = {} } = f.api.document();
    const operations = Object.entries(paths)
      .filter(([path]) => path.startsWith('/v1/'))
      .flatMap(([, methods]) =>
        Object.values(methods as Record<string, { operationId: string; tags: string[] }>),
      );
    expect(operations).toHaveLength(f.tasks.api.length);
    expect(new Set(operations.map(operation => operation.operationId)).size).toBe(operations.length);
    for (const { operationId, tags } of operations) {
      expect(operationId).toMatch(/^tasks\.[a-zA-Z]+$/);
      expect(tags).toEqual(['tasks']);
    }
  });
});
