import { parseArgs } from 'node:util';
import type { EngineKind } from './backend.ts';
import { runHistories } from './run.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '300' },
    length: { type: 'string', default: '30' },
    engine: { type: 'string', default: 'embedded' },
    seed: { type: 'string' },
  },
});
const { engine, seed } = values;
const histories = Number(values.histories);
const length = Number(values.length);
const isEngine = (name: string): name is EngineKind => /^(embedded|sdk|https?:.*)$/.test(name);
if (!isEngine(engine) || !(histories >= 1) || !(length >= 1) || Number.isNaN(Number(seed ?? 0))) {
  console.error('Usage: oracle inbox [--histories 300] [--length 30] [--engine embedded|sdk|URL] [--seed N]');
  process.exit(2);
}

const startedMs = Date.now();
let done = 0;
const result = await runHistories({
  histories,
  length,
  engine,
  ...(seed !== undefined && { seed: Number(seed) }),
  onHistory() {
    done += 1;
    if (done % 50 === 0 && done <= histories) console.log(`${done} histories`);
  },
});
const tookS = ((Date.now() - startedMs) / 1000).toFixed(1);
console.log(`engine      ${engine}`);
console.log(`seed        ${result.seed}`);
console.log(`histories   ${histories}, of up to ${length} steps`);
console.log(`checks      ${result.checks.toLocaleString('en')} in ${tookS} s`);
console.log(`mismatches  ${result.mismatch === undefined ? 0 : 1}`);
if (result.mismatch !== undefined) {
  console.error(`\n${result.mismatch}`);
  process.exitCode = 1;
}
