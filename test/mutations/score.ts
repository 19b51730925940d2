// Changes one operator, condition or call after the other in the parts that only compute, and reports how many of the
// changes their tests notice, and which they do not.
//   npm run test:mutation-score -- [--only positions,filters] [--file TEXT]
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest, type Vitest } from 'vitest/node';
import { type Change, withChanges } from './changes.ts';
import { root } from './fault.ts';
import { type PurePart, pureParts } from './pure-parts.ts';
import { readScores, renderScores, scorePagePath } from './score-page.ts';
import { createScratch } from './scratch.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, file: { type: 'string' } } });
const names = values.only?.split(',');
const chosen = pureParts.filter(({ name }) => !names || names.includes(name));

const together = 50; // copies of a test file: all of their results are in memory

if (chosen.length === 0) {
  console.error('Usage: npm run test:mutation-score -- [--only positions,filters] [--file TEXT]');
  process.exitCode = 2;
} else await scoreAll();

async function scoreAll(): Promise<void> {
  const scratch = createScratch();
  try {
    for (const part of chosen) await scorePart(scratch.folder, part);
  } finally {
    scratch.remove();
  }
}

type Placed = Change & { file: string };

async function scorePart(folder: string, { name, files, tests }: PurePart): Promise<void> {
  const placed: Placed[] = [];
  const isPartial = values.file !== undefined;
  const originals = new Map(
    files
      .filter(path => path.includes(values.file ?? ''))
      .map(path => [path, readFileSync(join(folder, path), 'utf8')]),
  );
  for (const [file, original] of originals) {
    const { text, changes } = withChanges(original, file, placed.length);
    writeFileSync(join(folder, file), text);
    placed.push(...changes.map(change => ({ ...change, file })));
  }
  const vitest = await start(folder);
  try {
    let left = placed.map((_, number) => number);
    for (const test of tests) {
      // With the number of no change, the tests have to pass.
      const [unsound] = await noticed(vitest, folder, test, [placed.length]);
      if (unsound) throw new Error(`${name}: ${test} does not pass without a change: ${unsound.why}`);
      for (let at = 0, all = left; at < all.length; at += together) {
        const found = new Set(
          (await noticed(vitest, folder, test, all.slice(at, at + together))).map(({ number }) => number),
        );
        left = left.filter(number => !found.has(number));
      }
    }
    for (const number of left) console.log(describe(placed[number]!));
    const score = { tried: placed.length, noticed: placed.length - left.length };
    console.log(`${name}: ${score.noticed} of ${score.tried} are noticed`);
    if (!isPartial)
      writeFileSync(join(root, scorePagePath), renderScores(new Map([...readScores(), [name, score]])));
  } finally {
    await vitest.close();
    // The numbers of the next part begin anew.
    for (const [file, original] of originals) writeFileSync(join(folder, file), original);
  }
}

// Returns the numbers of those changes that a test file notices: it has a copy for each.
async function noticed(vitest: Vitest, folder: string, test: string, numbers: readonly number[]) {
  const text = readFileSync(join(folder, test), 'utf8');
  const copies = new Map(
    numbers.map(number => [join(folder, test.replace(/\.test\.ts$/, `.change-${number}.test.ts`)), number]),
  );
  for (const path of copies.keys()) writeFileSync(path, text);
  const project = vitest.projects[0]!;
  const { testModules } = await vitest.runTestSpecifications(
    [...copies.keys()].map(path => project.createSpecification(path)),
  );
  for (const path of copies.keys()) rmSync(path);
  const found = testModules.flatMap(module => {
    const errors = [...module.children.allTests()].flatMap(one => one.result().errors ?? []);
    const isSound = module.ok() && module.children.size > 0;
    const why = [...module.errors(), ...errors][0]?.message ?? 'it has no test';
    return isSound ? [] : [{ number: copies.get(module.moduleId)!, why }];
  });
  vitest.state.filesMap.clear();
  vitest.state.idMap.clear();
  return found;
}

function start(folder: string): Promise<Vitest> {
  return createVitest('test', {
    root: folder,
    config: false,
    watch: false,
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    include: ['**/*.test.ts'],
    setupFiles: ['./test/mutations/change-setup.ts'],
    testTimeout: 100_000,
    hookTimeout: 100_000,
    reporters: [{}],
    onConsoleLog: () => false,
  });
}

function describe({ file, line, from, to }: Placed): string {
  const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 90);
  return `${file}:${line} ${short(from)} → ${short(to)}`;
}
