// Plants faults, one at a time, in a copy of the checkout, and reports which of them the tests notice.
//   npm run test:mutations -- [--only NAME,NAME] [--short] [--jobs 2] [--list]
import { parseArgs } from 'node:util';
import { type Catcher, commandOf, type Fault, findMisfits } from './fault.ts';
import { faults } from './faults.ts';
import { readVerdicts, renderPage, type Verdict, writePage } from './page.ts';
import { createScratch } from './scratch.ts';
import { type Outcome, openTrials, type Trials } from './trial.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    short: { type: 'boolean' },
    list: { type: 'boolean' },
    jobs: { type: 'string' },
  },
});
const jobs = Number(values.jobs ?? 1);

// Names, or what a name begins with.
const wanted = values.only?.split(',');
const chosen = faults.filter(
  ({ name, isShort }) =>
    (!values.short || isShort) && (!wanted || wanted.some(text => name === text || name.startsWith(text))),
);

if (chosen.length === 0 || !(Number.isInteger(jobs) && jobs > 0)) {
  console.error('Usage: npm run test:mutations -- [--only NAME,NAME] [--short] [--jobs 2] [--list]');
  process.exitCode = 2;
} else if (values.list) {
  for (const { name, why, file, caughtBy } of chosen)
    console.log(`${name}\n    ${why}\n    ${file}\n    ${commandOf(caughtBy)}`);
} else process.exitCode = await runAll();

async function runAll(): Promise<number> {
  const misfits = findMisfits(faults);
  for (const misfit of misfits) console.error(misfit);
  if (misfits.length > 0) return 1;
  const verdicts = new Map<string, Verdict>();
  const problems: string[] = [];
  const queue = groupByCatcher(chosen);
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: Math.min(jobs, queue.length) }, () => work(queue, verdicts, problems)),
  );
  const caught = chosen.filter(({ name }) => verdicts.get(name) === 'caught').length;
  for (const problem of problems) console.error(problem);
  console.log(`${caught} of ${chosen.length} caught, ${seconds(startedAt)} s`);
  return problems.length > 0 ? 1 : 0;
}

type Group = { catcher: Catcher; faults: Fault[] };

// The command has to pass without a fault, which is seen once for all faults that it catches.
function groupByCatcher(list: readonly Fault[]): Group[] {
  const groups = new Map<string, Group>();
  for (const fault of list) {
    const key = commandOf(fault.caughtBy);
    const group = groups.get(key) ?? { catcher: fault.caughtBy, faults: [] };
    group.faults.push(fault);
    groups.set(key, group);
  }
  return [...groups.values()];
}

async function work(queue: Group[], verdicts: Map<string, Verdict>, problems: string[]): Promise<void> {
  const scratch = createScratch();
  const trials = await openTrials(scratch.folder);
  try {
    for (let group = queue.shift(); group; group = queue.shift())
      await tryGroup(trials, group, verdicts, problems);
  } finally {
    await trials.close();
    scratch.remove();
  }
}

async function tryGroup(
  trials: Trials,
  { catcher, faults: planted }: Group,
  verdicts: Map<string, Verdict>,
  problems: string[],
): Promise<void> {
  const sound = await trials.run(catcher);
  if (sound.kind !== 'passed') {
    problems.push(`${commandOf(catcher)} does not pass without a fault: ${textOf(sound)}`);
    console.log(problems.at(-1));
    return;
  }
  for (const fault of planted) {
    const startedAt = performance.now();
    const outcome = await trials.run(catcher, fault);
    const verdict = outcome.kind === 'failed' ? 'caught' : 'missed';
    verdicts.set(fault.name, verdict);
    // At once: a run that is interrupted keeps what it has found.
    writePage(renderPage(faults, new Map([...readVerdicts(), ...verdicts])));
    console.log(`${verdict} ${fault.name}, ${seconds(startedAt)} s: ${textOf(outcome)}`);
    if (verdict === 'missed') problems.push(`${fault.name}: ${textOf(outcome)}`);
  }
}

function textOf(outcome: Outcome): string {
  if (outcome.kind === 'failed') return outcome.test;
  return outcome.kind === 'passed' ? `${outcome.tests} tests passed` : `broken: ${outcome.why}`;
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1000).toFixed(1);
}
