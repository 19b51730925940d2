import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readServerConfig, serverVariables } from '../src/config/config.ts';
import { serveMetrics } from '../src/process/metrics-server.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

const read = (path: string) => readFile(join(import.meta.dirname, '../../..', path), 'utf8');
const log = createLogger({ level: 'silent' });
const start = (env: Record<string, string> = {}) =>
  startServer(readServerConfig({ port: 0, memory: true, demo: false }, { STAK_LAKE: 'off', ...env }), {
    log,
  });

describe('metrics', () => {
  let server: RunningServer;
  let given: Set<string>;
  beforeAll(async () => {
    server = await start();
    const text = await (await fetch(`${server.localUrl}/metrics`)).text();
    given = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
  });
  afterAll(() => server.stop());
  const ours = () => [...given].filter(name => name.startsWith('stak_')).sort();

  test('are all described in the guide, and no others', async () => {
    const guide = await read('docs/guides/operate.md');
    const explained = [...guide.matchAll(/^\| `(stak_\w+)`/gm)].map(([, name]) => name!).sort();
    expect(explained).toEqual(ours());
  });

  test.each(['deploy/grafana/stak.json', 'deploy/prometheus/alerts.yml'])('of %s exist', async file => {
    const text = await read(file);
    const named = [...text.matchAll(/\b(?:stak|process|nodejs)_[a-z_]+\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(5);
    const strange = named.filter(
      name => !given.has(name.replace(/_(bucket|count|sum)$/, '')) && !given.has(name),
    );
    expect(strange).toEqual([]);
  });

  test('with a name are all in the dashboard', async () => {
    const dashboard = await read('deploy/grafana/stak.json');
    expect(JSON.parse(dashboard).title).toBe('Stak');
    expect(ours().filter(name => !dashboard.includes(name))).toEqual([]);
  });

  test('have alerts that the guide explains', async () => {
    const rules = await read('deploy/prometheus/alerts.yml');
    const guide = await read('docs/guides/operate.md');
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
    expect([...guide.matchAll(/^\| `(Stak\w+)`/gm)].map(([, name]) => name!)).toEqual(alerts);
    // Without quotes, a comma would end the text and begin another annotation.
    expect([...rules.matchAll(/annotations: \{ summary: '[^']*' \}$/gm)]).toHaveLength(alerts.length);
  });
});

describe('metrics on a separate address', () => {
  const metrics = { contentType: 'text/plain', read: async () => 'stak_processes 1\n' };
  const ask = async (port: number, path = '/metrics', headers = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;

  test('are served there, and nothing else is', async () => {
    const served = await serveMetrics({ host: '127.0.0.1', port: 0 }, metrics);
    onTestFinished(() => served.close());
    expect(await (await fetch(`http://127.0.0.1:${served.port}/metrics`)).text()).toBe('stak_processes 1\n');
    expect(await ask(served.port, '/v1/me')).toBe(404);
  });

  test('require the token if one is set', async () => {
    const served = await serveMetrics({ host: '127.0.0.1', port: 0 }, { ...metrics, token: 'scrape' });
    onTestFinished(() => served.close());
    expect(await ask(served.port)).toBe(401);
    expect(await ask(served.port, '/metrics', { authorization: 'Bearer other' })).toBe(401);
    expect(await ask(served.port, '/metrics', { authorization: 'Bearer scrape' })).toBe(200);
  });

  test('are not served with the API, even with a token', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    await new Promise(resolve => probe.close(resolve));
    const server = await start({ STAK_METRICS_ADDRESS: `127.0.0.1:${port}`, STAK_METRICS_TOKEN: 'scrape' });
    onTestFinished(async () => void (await server.stop()));
    const headers = { authorization: 'Bearer scrape' };
    expect((await fetch(`${server.localUrl}/metrics`, { headers })).status).toBe(401);
    expect(await ask(port, '/metrics', headers)).toBe(200);
    // An address that somebody else has keeps the server from starting.
    await expect(start({ STAK_METRICS_ADDRESS: `127.0.0.1:${port}` })).rejects.toThrow('EADDRINUSE');
  });

  test.each(['9100', '127.0.0.1', '127.0.0.1:99999', ':9100', 'http://127.0.0.1:9100'])(
    'need a host and a port: %s',
    STAK_METRICS_ADDRESS => {
      expect(() => readServerConfig({}, { STAK_METRICS_ADDRESS })).toThrow('must be host:port');
    },
  );

  test('can listen on IPv6', () => {
    const { metricsAddress } = readServerConfig({}, { STAK_METRICS_ADDRESS: '[::1]:9100' });
    expect(metricsAddress).toEqual({ host: '::1', port: 9100 });
  });
});

test('workflows run every check, on each change or nightly', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  const [atOnce, change, night] = await Promise.all(
    ['.ci/run', '.github/workflows/ci.yml', '.github/workflows/nightly.yml'].map(read),
  );
  const named = [
    ...`${atOnce} ${change}`.matchAll(/(?:npm run|run_tests) ([a-z][\w:-]*)/g),
    ...night!.matchAll(/^ {10}- ([\w:-]+)/gm),
  ].map(([, name]) => name!);
  expect(named.filter(name => scripts[name] === undefined)).toEqual([]);
  const checks = Object.keys(scripts).filter(name => /^(?:test|check|adversary)\b/.test(name));
  expect(checks.filter(name => !named.includes(name))).toEqual([
    'test:extenddb', // needs a PostgreSQL and a build of its own
  ]);
});

test('the Helm chart has the version of the packages', async () => {
  const { version } = JSON.parse(await read('package.json'));
  const chart = await read('deploy/helm/stak/Chart.yaml');
  expect(chart).toContain(`\nversion: ${version}\n`);
  expect(chart).toContain(`\nappVersion: ${version}\n`);
});

test.each([
  'deploy/stak.env.example',
  'deploy/Dockerfile',
  'deploy/helm/stak/values.yaml',
  'deploy/helm/stak/templates/pod.tpl',
  'docs/guides/operate.md',
  'docs/guides/backup-and-restore.md',
  'docs/guides/deploy-on-one-machine.md',
])('%s names existing variables', async file => {
  const named = new Set([...(await read(file)).matchAll(/\bSTAK_[A-Z_]+\b/g)].map(([name]) => name));
  const elsewhere = ['STAK_SITE', 'STAK_UPSTREAM', 'STAK_COMMIT']; // of proxies, and of the build
  const known = [...Object.keys(serverVariables), ...elsewhere];
  expect([...named].filter(name => !known.includes(name))).toEqual([]);
});
