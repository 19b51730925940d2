import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inDataFolder } from '../data-folder.ts';
import { describeVerdict, failures } from '../gates.ts';
import { describeMachine } from '../results-file.ts';
import { projectRoot } from '../server/bundle.ts';
import { startDestination } from '../webhooks/destination.ts';
import { type Arguments, parseArguments } from './arguments.ts';
import { type Checkout, checkOut, findCheckout, findCommit, readPinnedCommit } from './checkout.ts';
import { compare, judgeCpu, type Rounds } from './comparison.ts';
import { withContender } from './contender.ts';
import { countsInstructions } from './instructions.ts';
import { printComparison } from './report.ts';
import { type Contenders, createRounds, type Extent } from './rounds.ts';

// This checkout's server beside that of another commit, under the same load by this checkout.

type Settings = Extent & { settleMs: number; idleMs: number };

const full: Settings = {
  rounds: 5,
  roundMs: 5000,
  warmUpMs: 5000,
  repeats: 10,
  settleMs: 2000, // the lake has captured what was written
  idleMs: 5000,
};
// For a gate with a wide margin: less than two minutes of rounds.
const quick: Settings = {
  rounds: 3,
  roundMs: 1500,
  warmUpMs: 2000,
  repeats: 3,
  settleMs: 300,
  idleMs: 500,
};

// Returns whether everything is within the gate.
export async function runAgainst(argv: string[]): Promise<boolean> {
  const options = parseArguments(argv);
  return inDataFolder('against', async folder => {
    const baseline = await openBaseline(options.baseline, folder);
    if (!baseline) return true;
    const extent = options.quick ? quick : full;
    const settings = { ...extent, rounds: options.rounds ?? extent.rounds };
    const rounds = await measure(baseline, options, settings, folder);
    console.log(`\n${printComparison(baseline.title, rounds)}`);
    if (!options.quick) keepComparison(baseline.title, options, settings, rounds);
    return options.gate === undefined || isWithin(options.gate, rounds);
  });
}

async function openBaseline(name: string, folder: string): Promise<Checkout | undefined> {
  const isPinned = name === 'pinned';
  const checkout = isPinned ? undefined : findCheckout(name);
  if (checkout) return checkout;
  const wanted = isPinned ? readPinnedCommit() : name;
  const commit = await findCommit(wanted);
  if (commit) return checkOut(commit, folder);
  if (!isPinned) throw new Error(`${name} is neither a commit of this clone nor a checkout`);
  console.log(
    `skipped: this clone does not have the pinned commit ${wanted}; git fetch origin ${wanted} gets it`,
  );
  return undefined;
}

async function measure(
  { root, title }: Checkout,
  options: Arguments,
  settings: Settings,
  folder: string,
): Promise<Rounds[]> {
  const canCount = await countsInstructions();
  if (!canCount) console.log('Instructions are not counted: this machine has no counter for them.');
  const destination = await startDestination(0);
  const contender = { ...options, ...settings, destination, countsInstructions: canCount };
  try {
    console.log(`… building and starting ${title} and this checkout`);
    return await withContender({ ...contender, root, data: join(folder, 'baseline') }, baseline =>
      withContender({ ...contender, root: projectRoot, data: join(folder, 'candidate') }, candidate =>
        measureAll({ baseline, candidate }, settings, options.gate),
      ),
    );
  } finally {
    await destination.close();
  }
}

async function measureAll(contenders: Contenders, extent: Extent, gate?: number): Promise<Rounds[]> {
  const { baseline, candidate } = contenders;
  const { warmUp, measure } = createRounds(contenders, extent);
  const all: Rounds[] = [
    { operation: 'idle', pairs: [{ baseline: baseline.idle, candidate: candidate.idle }] },
  ];
  for (const operation of candidate.operationNames) {
    console.log(`… ${operation}`);
    await warmUp(operation);
    const rounds = await measure(operation);
    // A result beyond the gate is measured once more: one disturbance is not yet a regression.
    const isBeyond = gate !== undefined && failures(judgeCpu([rounds], gate)).length > 0;
    const more = isBeyond ? (await measure(operation)).pairs : [];
    all.push({ operation, pairs: [...rounds.pairs, ...more] });
  }
  return all;
}

function isWithin(gate: number, all: readonly Rounds[]): boolean {
  const verdicts = judgeCpu(
    all.filter(({ operation }) => operation !== 'idle'),
    gate,
  );
  console.log(`\n${verdicts.map(describeVerdict).join('\n')}`);
  return failures(verdicts).length === 0;
}

function keepComparison(
  baseline: string,
  options: Arguments,
  settings: Settings,
  all: readonly Rounds[],
): void {
  const operations = all.map(({ operation, pairs }) => ({
    operation,
    measures: compare(pairs),
    rounds: pairs,
  }));
  const { workers } = options;
  const results = { machine: describeMachine(), baseline, settings: { ...settings, workers }, operations };
  const folder = join(projectRoot, 'bench/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'against.json'), `${JSON.stringify(results, null, 2)}\n`);
}
