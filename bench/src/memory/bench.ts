import { createModels, type Models } from '@stak/agents';
import { manualClock } from '@stak/kit';
import { messagesPath, serveAgents } from '../agents/agents.ts';
import type { BenchOptions } from '../bench.ts';
import { judge, type Verdict } from '../gates.ts';
import { textTable } from '../table.ts';
import { questions, said } from './questions.ts';

// How many of a fixed set of questions find their answer among the first five hits, by words alone and with vectors.
// The embedding is computed from the letters of words, so the figures show how the search uses an embedding model, not
// how good one is.

type EmbeddingModel = Awaited<ReturnType<NonNullable<Models['embedding']>['find']>>;
type Way = { recall: number; p50Ms: number; readUnits: number };

export async function run({ quick }: BenchOptions): Promise<Verdict[]> {
  const asked = quick ? questions.slice(0, 4) : questions;
  const words = await measure(asked, false);
  const hybrid = await measure(asked, true);
  const row = (name: string, { recall, p50Ms, readUnits }: Way) => [
    name,
    `${(recall * 100).toFixed(0)} %`,
    `${p50Ms.toFixed(1)} ms`,
    `${readUnits.toFixed(1)} RCU`,
  ];
  const title = [`search over ${said.length} turns`, 'recall at 5', 'p50', 'units'];
  console.log(`\n${textTable([title, row('words', words), row('words and vectors', hybrid)])}`);
  const target = (name: string, measured: number, limit: number) =>
    judge({ name, measured, bound: 'at least', limit, unit: '%', required: true });
  return [
    target('recall at 5 by words', words.recall * 100, 35),
    target('recall at 5 by words and vectors', hybrid.recall * 100, 90),
  ];
}

async function measure(asked: typeof questions, hasVectors: boolean): Promise<Way> {
  const { call, settle, ledger, close } = await openMemory(hasVectors);
  try {
    for (const [i, content] of said.entries()) await call(`c${i}`, content);
    await settle();
    let found = 0;
    let readUnits = 0;
    const timesMs: number[] = [];
    for (const { ask, answer } of asked) {
      ledger.clear();
      const startMs = performance.now();
      const hits = await call('search', `search my history for ${ask}`);
      timesMs.push(performance.now() - startMs);
      readUnits += ledger.entries().reduce((sum, entry) => sum + entry.readUnits, 0);
      if (
        hits
          .split('\n')
          .slice(0, 5)
          .some(line => line.includes(said[answer]!))
      )
        found += 1;
    }
    timesMs.sort((a, b) => a - b);
    return {
      recall: found / asked.length,
      p50Ms: timesMs[Math.floor(timesMs.length / 2)]!,
      readUnits: readUnits / asked.length,
    };
  } finally {
    await close();
  }
}

const dimensions = 512;

// Three letters at a time, so that forms of a word are near each other.
function embed(text: string): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? [])
    for (let i = 0; i + 3 <= word.length + 1; i++) {
      let hash = 7;
      for (const letter of ` ${word}`.slice(i, i + 3)) hash = (hash * 31 + letter.charCodeAt(0)) % 65_521;
      vector[hash % dimensions]! += 1;
    }
  return vector;
}

async function openMemory(hasVectors: boolean) {
  const clock = manualClock();
  const model: EmbeddingModel = {
    specificationVersion: 'v3',
    provider: 'bench',
    modelId: 'letters',
    maxEmbeddingsPerCall: 100,
    supportsParallelCalls: true,
    doEmbed: async ({ values }) => ({ embeddings: values.map(embed), warnings: [] }),
  };
  const name = { provider: 'bench', model: 'letters' };
  const { ledger, agents, callAsHost, close } = await serveAgents({
    clock,
    models: { ...createModels({}), ...(hasVectors && { embedding: { name, find: async () => model } }) },
    settings: { enabled_skills: ['search_history'], messages_per_day: 1_000_000 },
  });
  return {
    ledger,
    async call(conversation: string, content: string): Promise<string> {
      await clock.advance(1_000);
      const answer = await callAsHost('POST', messagesPath(conversation), { content, user_id: 'ann' });
      const { reply } = JSON.parse(answer) as { reply: { content: string } };
      return reply.content;
    },
    async settle(): Promise<void> {
      await clock.advance(11 * 60_000);
      while ((await agents.runDue()).worked > 0);
    },
    close,
  };
}
