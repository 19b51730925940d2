import { describe, expect, it } from 'vitest';
import { openAgents } from '../src/agents/agents.ts';
import { parseEvent } from '../src/agents/chat.ts';
import { countEvents } from '../src/agents/chats.ts';
import { createRecorder, repeatTurn, send } from '../src/agents/recording.ts';
import { printResults } from '../src/agents/report.ts';
import { measureSaving } from '../src/agents/saving.ts';
import { judgeResults, partNames, type Results } from '../src/agents/targets.ts';
import { describeVerdict, failures } from '../src/gates.ts';
import type { Measure } from '../src/harness.ts';
import type { ServerMeasure } from '../src/server/rounds.ts';

const at = (p50Ms: number): Measure => ({ opsPerSecond: 1000 / p50Ms, p50Ms, p99Ms: p50Ms, rounds: [] });
const rate = (opsPerSecond: number, cpuUs = 30): ServerMeasure => ({ ...at(1), opsPerSecond, cpuUs });
const spent = (turn: number, readUnits: number, writeUnits: number) => ({ turn, readUnits, writeUnits });

const atTheirBounds: Results = {
  turns: { measures: { engine: at(1), turn: at(4) } },
  saving: {
    ours: { first: spent(5, 6, 12), few: spent(10, 6, 14), many: spent(10_000, 7, 14) },
    documents: { few: spent(10, 0.5, 2), last: spent(3624, 50, 400) },
  },
  requests: { constant: rate(20_000), turn: rate(2000, 1000) },
  chats: { chats: 1000, comeBacks: 100, words: 12_000, missed: 0, kilobytesEach: 120 },
};
const missed = (results: Results) => failures(judgeResults(results, partNames)).map(describeVerdict);

describe('the targets of the agents bench', () => {
  it('are met at their bounds', () => {
    expect(missed(atTheirBounds)).toEqual([]);
  });

  it('name what was missed', () => {
    const { saving, chats } = atTheirBounds;
    const worse: Results = {
      turns: { measures: { engine: at(1), turn: at(4.1) } },
      saving: {
        ...saving!,
        ours: { first: spent(5, 6, 15), few: spent(10, 6, 12), many: spent(10_000, 7, 15) },
      },
      requests: { constant: rate(20_000), turn: rate(1800, 1200) },
      chats: { ...chats!, missed: 1 },
    };
    expect(missed(worse)).toEqual([
      'missed        a turn that a rule answers, over the engine’s calls that it makes: at most 4.00x (4.10x)',
      'missed        write units of a turn, in a long conversation over a short one: at most 1.00x (1.25x)',
      'missed        write units of a turn that a rule answers, with a window below 1 KB: at most 12 units (15 units)',
      'missed        a turn that a rule answers, over HTTP: processor time of the server: at most 1.00 ms (1.20 ms)',
      'missed        a turn over HTTP, requests a second, of the constant: at least 10 % (9 %)',
      'missed        missed by open chats: at most 0 events (1 events)',
    ]);
  });

  it('fail when a requested part could not be measured', () => {
    expect(failures(judgeResults({}, ['chats']))).toHaveLength(1);
    expect(failures(judgeResults({}, []))).toHaveLength(0);
  });

  it('are printed beside the specification’s approach', () => {
    expect(printResults(atTheirBounds)).toContain('none: an item is full at turn 3,624 (50 RCU, 400 WCU)');
  });
});

describe('a recorded turn', () => {
  it('can be replayed, and leaves what the service would', async () => {
    const recorder = createRecorder();
    const { client, begin, say, close } = await openAgents(recorder.watch);
    const id = await begin();
    for (let i = 0; i < 3; i++) await say(id);
    const repeat = repeatTurn(await recorder.record(() => say(id)));
    for (let n = 1; n <= 3; n++) for (const call of repeat(n)) await send(client, call);
    const turns = await client.query({
      TableName: 'conversations',
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :turns)',
      ExpressionAttributeValues: { ':pk': `CONV#bench#${id}`, ':turns': 'TURN#' },
    });
    expect(turns.Count).toBe(7);
    const { Item } = await client.get({ TableName: 'conversations', Key: { pk: 'bench', sk: id } });
    expect(Item!.version).toBe(8); // created, and written with every turn
    await close();
  });
});

it('costs the same to save, however long the conversation is', async () => {
  const { ours, documents } = await measureSaving({ few: 10, many: 15 });
  expect(ours.many.writeUnits).toBe(ours.few.writeUnits);
  expect(documents.many!.writeUnits).toBeGreaterThanOrEqual(documents.few.writeUnits);
});

describe('events of a chat', () => {
  const delta = (id: number, text: string) => ({
    id: String(id),
    event: 'delta',
    data: JSON.stringify({ text }),
  });

  it('are parsed from their lines, without heartbeats', () => {
    expect(parseEvent('id: 3\nevent: delta\ndata: {"text":"a: b"}')).toEqual([delta(3, 'a: b')]);
    expect(parseEvent(': still here')).toEqual([]);
  });

  it('are counted once, for their own turn', () => {
    const reply = { id: '4', event: 'reply', data: '{}' };
    const all = [delta(1, 'word-0 '), delta(2, 'word-1 word-2 '), reply];
    expect(countEvents({ events: all })).toBe(4);
    expect(countEvents({ events: [all[0]!, reply] })).toBe(2);
    expect(countEvents({ events: [all[1]!] })).toBe(0);
  });
});
