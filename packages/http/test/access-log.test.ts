import { createLogger, manualClock } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import { accessLog } from '../src/index.ts';
import { openShelf, recordingLog } from './shelf-service.ts';

function openLogged() {
  const { log, lines } = recordingLog(manualClock(0));
  return { ...openShelf({ observe: accessLog(log) }), read: () => lines.map(line => JSON.parse(line)) };
}

const time = '1970-01-01T00:00:00.000Z';
const common = { level: 'info', time, ms: 0, address: '203.0.113.7', msg: 'request' };

describe('the access log', () => {
  it('has a line for each request, with caller and route', async () => {
    const { call, read } = openLogged();
    const headers = { 'X-Request-Id': 'trace-0001' };
    await call('/v1/books/none?secret=1', { as: 'annkey', headers });
    await call('/v1/me', { as: 'endUser', headers });
    await call('/hooks/src_1', {
      method: 'POST',
      body: '',
      headers: { ...headers, 'X-Signature': 'signed 0' },
    });
    await call('/nowhere', { method: 'PUT', headers });
    const request = { ...common, request_id: 'trace-0001' };
    expect(read()).toEqual([
      {
        ...request,
        method: 'GET',
        route: 'GET /v1/books/{id}',
        status: 404,
        code: 'shelf.book_not_found',
        account: 'usr_ann',
        credential: 'k1',
      },
      { ...request, method: 'GET', route: 'GET /v1/me', status: 200, tenant: 't1', user: 'u1' },
      {
        ...request,
        method: 'POST',
        route: 'POST /hooks/{id}',
        status: 200,
        provider: 'test',
        subject: 'src_1',
      },
      { ...request, method: 'PUT', route: 'none', status: 404, code: 'http.not_found' },
    ]);
  });

  it('contains nothing confidential', async () => {
    const { call, read } = openLogged();
    await call('/v1/books?cursor=hush', { as: 'hush' });
    await call('/v1/books', { method: 'POST', as: 'ann', send: { title: 'hush', hush: 1 } });
    await call('/v1/books/hush', { as: 'ann', headers: { Cookie: 'hush=1' } });
    expect(read()).toHaveLength(3);
    expect(JSON.stringify(read())).not.toContain('hush');
  });

  it('has probes only at the debug level', async () => {
    const seen: string[] = [];
    const log = createLogger({ level: 'debug', destination: { write: line => void seen.push(line) } });
    const loud = openShelf({ observe: accessLog(log) });
    const { call, read } = openLogged();
    await Promise.all([call('/healthz'), call('/readyz'), loud.call('/healthz')]);
    expect([read().length, seen.length]).toEqual([0, 1]);
  });
});
