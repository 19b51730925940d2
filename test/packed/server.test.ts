import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  asProgram,
  firstExample,
  inProject,
  runOutside,
  signUp,
  startOutside,
  writeOutside,
} from './outside.ts';

let server: Awaited<ReturnType<typeof startOutside>>;
beforeAll(async () => {
  server = await startOutside('empty');
});
afterAll(() => server.stop());

const script = 'function transform({ body }) { return { body: { total: body.total * 2 } } }';
const stak = (args: string[], env: Record<string, string> = {}) => runOutside('server', 'stak', args, env);

describe('npx stak in a folder with nothing but the package', () => {
  it('prints help', async () => {
    expect(await stak(['--help'])).toContain('stak <command> [options]');
  });

  it('has only files that Node can read', async () => {
    const dist = 'node_modules/@stak/server/dist';
    const files = (await readdir(inProject('server', dist))).filter(name => name.endsWith('.mjs'));
    expect(files.length).toBeGreaterThan(50);
    const check = promisify(execFile);
    for (const file of files) await check(process.execPath, ['--check', inProject('server', dist, file)]);
  });

  it('serves the console, the portal, the API and its description', async () => {
    for (const path of ['/console', '/portal/acme']) {
      const page = await fetch(`${server.url}${path}`, { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
    }
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths).length).toBeGreaterThan(100);
    const ready = (await (await fetch(`${server.url}/readyz`)).json()) as { status: string };
    expect(ready.status).toBe('ready');
  });

  it('runs customers’ rules and SQL, in separate threads and processes', async () => {
    const { token, call } = await signUp(server.url);
    const { sourceId } = await call('/v1/sources', { name: 'orders' });
    const { connectionId } = await call(`/v1/sources/${sourceId}/connections`, {
      name: 'doubled',
      destinationUrl: `${server.url}/in/${sourceId}`,
      transform: { type: 'javascript', code: script },
    });
    const trial = await call(`/v1/connections/${connectionId}/test`, { body: '{"total":21}' });
    const { body } = trial.request as unknown as { body: string };
    expect(JSON.parse(Buffer.from(body, 'base64').toString())).toEqual({ total: 42 });
    const env = { STAK_URL: server.url, STAK_TOKEN: token };
    expect(await stak(['lake', 'query', 'select 6 * 7 as answer'], env)).toContain('42');
  });

  it('answers the client', async () => {
    const { token } = await signUp(server.url);
    await writeOutside('library', { 'src/client.ts': await firstExample('packages/client') });
    await runOutside('library', 'tsc', [...asProgram, 'src/client.ts']);
    const env = { STAK_URL: server.url, STAK_TOKEN: token };
    const output = await runOutside('library', 'out/client.js', [], env);
    expect(output).toBe('Acme\ntenants.not_found\n');
  });
});
