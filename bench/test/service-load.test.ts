import { type AddressInfo, createServer } from 'node:net';
import { createEngine } from '@stak/engine';
import { createTables, defineTable } from '@stak/table';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withText, writeCopies } from '../src/copies.ts';
import { parseSpent, spentBetween } from '../src/server/capacity.ts';
import { openEventStreams } from '../src/server/event-streams.ts';
import { keepPace } from '../src/server/pace.ts';

describe('copies', () => {
  it('have new ids everywhere, in names too, and keep bytes and numbers', () => {
    const item = {
      PK: 'EVT#a1',
      n: 1,
      bytes: new Uint8Array([97, 49]),
      deep: { list: ['a1', null], a1: { x: 'b' } },
    };
    expect(withText(item, 'a1', 'z9')).toEqual({
      PK: 'EVT#z9',
      n: 1,
      bytes: new Uint8Array([97, 49]),
      deep: { list: ['z9', null], z9: { x: 'b' } },
    });
  });

  it('are all written, including an incomplete last batch', async () => {
    const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
    onTestFinished(() => engine.close());
    const table = defineTable({
      name: 'copies',
      description: 'Copies.',
      keys: { partition: 'pk', sort: 'sk' },
    });
    await createTables(engine, [table]);
    const items = Array.from({ length: 60 }, (_, i) => ({ pk: 'p', sk: String(i) }));
    await writeCopies(engine.client, 'copies', items);
    expect((await engine.client.scan({ TableName: 'copies' })).Count).toBe(60);
  });
});

describe('an open loop', () => {
  it('keeps its call rate, however slow the responses are', async () => {
    let calls = 0;
    let release = () => {};
    const slow = new Promise<void>(resolve => {
      release = resolve;
    });
    const startMs = performance.now();
    await keepPace({ perSecond: 200, durationMs: 50 }, async (turn, sentMs) => {
      calls += 1;
      expect(sentMs - startMs).toBeGreaterThanOrEqual(turn * 5); // not before its time
      if (turn === 9) release();
      await slow; // nobody is answered before the last one has called
    });
    expect(calls).toBe(10);
  });

  it('ends when a call fails', async () => {
    const failing = keepPace({ perSecond: 1000, durationMs: 50 }, async () => {
      throw new Error('no answer');
    });
    await expect(failing).rejects.toThrow('no answer');
  });
});

describe('the cost of a server', () => {
  const metrics = (read: number, write: number) =>
    `# HELP stak_capacity_units_total Units
stak_capacity_units_total{table="t",pattern="ingest",kind="read"} ${read}
stak_capacity_units_total{table="t",pattern="ingest",kind="write"} ${write}
stak_store_calls_total{table="t",pattern="ingest"} 3
`;

  it('is read from its metrics, less what it had before', () => {
    const before = parseSpent(metrics(0.5, 7));
    expect(before).toEqual([{ table: 't', pattern: 'ingest', readUnits: 0.5, writeUnits: 7 }]);
    expect(spentBetween(before, parseSpent(metrics(1, 21)))).toEqual([
      { table: 't', pattern: 'ingest', readUnits: 0.5, writeUnits: 14 },
    ]);
  });
});

describe('event streams', () => {
  const serve = async (status: number, chunks: readonly string[]): Promise<string> => {
    const server = createServer(socket => {
      socket.on('error', () => {}); // the client hung up
      socket.write(`HTTP/1.1 ${status} Any\r\n\r\n`);
      for (const chunk of chunks) setImmediate(() => socket.write(chunk));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const one = [{ path: '/stream', token: 'token' }];

  it('report what they received', async () => {
    const url = await serve(200, ['event: message\ndata: {"title":"num', 'ber 1"}\n\n']);
    const found = await new Promise<string>((resolve, reject) => {
      openEventStreams(url, one, /"title":"(number \d+)"/g, resolve).then(
        streams => onTestFinished(() => streams.close()),
        reject,
      );
    });
    expect(found).toBe('number 1');
  });

  it('must be open', async () => {
    const url = await serve(401, ['no']);
    await expect(openEventStreams(url, one, /x/g, () => {})).rejects.toThrow('no event stream');
  });
});
