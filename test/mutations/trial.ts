import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest, type TestRunResult, type Vitest } from 'vitest/node';
import { type Catcher, type Fault, plant } from './fault.ts';

// A fault may make a test wait for ever.
const mostMs = 150_000;
// A process that stood still for longer, because it was stopped or the machine was busy, says nothing by a time limit.
const pauseMs = 5_000;
const repeats = 5;
const testTimeout = 45_000;

export type Outcome =
  | { kind: 'passed'; tests: number }
  | { kind: 'failed'; test: string; isByTime?: true }
  | { kind: 'broken'; why: string }; // it does not even load, or no test has that name

export type Trials = {
  run(catcher: Catcher, fault?: Fault): Promise<Outcome>;
  close(): Promise<void>;
};

/**
 * Runs catchers in a scratch copy. Vitest is started once, and what it has read of the sources stays in its memory: a
 * trial costs what it takes to load the test file and to run it. Each trial has a thread of its own.
 */
export async function openTrials(folder: string): Promise<Trials> {
  let vitest = await start(folder);

  async function runSeed(catcher: Catcher, seed: number | undefined): Promise<Outcome> {
    for (let left = repeats; ; left--) {
      const watch = watchPauses();
      const outcome = await runOnce(catcher, seed);
      const wasPaused = watch.end();
      if (outcome.kind !== 'failed' || !outcome.isByTime || !wasPaused || left === 0) return outcome;
    }
  }

  async function runOnce({ test, name }: Catcher, seed: number | undefined): Promise<Outcome> {
    const project = vitest.projects[0]!;
    project.config.env.STAK_ADVERSARY_SEED = seed === undefined ? '' : String(seed);
    const options = name === undefined ? {} : { testNamePattern: new RegExp(name) };
    // It counts failures of earlier runs as well, and ends at the first.
    vitest.state.filesMap.clear();
    vitest.state.idMap.clear();
    const running = vitest.runTestSpecifications([project.createSpecification(join(folder, test), options)]);
    const result = await withinTime(running);
    if (result) return outcomeOf(result);
    const hung = vitest;
    void hung.close().catch(() => {});
    vitest = await start(folder);
    return { kind: 'failed', test: 'it did not end', isByTime: true };
  }

  async function runSeeds(catcher: Catcher): Promise<Outcome> {
    const [first, last] = catcher.seeds ?? [undefined, undefined];
    if (first === undefined) return runSeed(catcher, undefined);
    let tests = 0;
    for (let seed = first; seed <= last; seed++) {
      const outcome = await runSeed(catcher, seed);
      if (outcome.kind === 'failed') return { ...outcome, test: `${outcome.test} (seed ${seed})` };
      if (outcome.kind === 'broken') return outcome;
      tests += outcome.tests;
    }
    return { kind: 'passed', tests };
  }

  return {
    async run(catcher, fault) {
      if (!fault) return runSeeds(catcher);
      const path = join(folder, fault.file);
      const original = readFileSync(path, 'utf8');
      try {
        writeFileSync(path, plant(fault, original));
        vitest.invalidateFile(path);
        return await runSeeds(catcher);
      } finally {
        writeFileSync(path, original);
        vitest.invalidateFile(path);
      }
    },
    close: () => vitest.close(),
  };
}

const start = (folder: string): Promise<Vitest> =>
  createVitest('test', {
    root: folder,
    config: false,
    watch: false,
    // The first failure is enough.
    bail: 1,
    pool: 'threads',
    isolate: true,
    maxWorkers: 1,
    include: ['**/*.test.ts'],
    setupFiles: ['./test/property-limits.ts', './test/answer-check.ts'],
    env: {},
    testTimeout,
    hookTimeout: testTimeout,
    teardownTimeout: 1_000,
    reporters: [{}],
    onConsoleLog: () => false,
  });

function watchPauses(): { end(): boolean } {
  let wasPaused = false;
  let lookedMs = performance.now();
  const look = () => {
    if (performance.now() - lookedMs > pauseMs) wasPaused = true;
    lookedMs = performance.now();
  };
  const timer = setInterval(look, pauseMs / 10);
  return {
    end() {
      clearInterval(timer);
      look();
      return wasPaused;
    },
  };
}

async function withinTime(running: Promise<TestRunResult>): Promise<TestRunResult | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), mostMs);
  });
  try {
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
  }
}

const isTimeLimit = ({ message }: { message: string }): boolean =>
  /timed out|come about|succeed in time/.test(message);

function outcomeOf({ testModules, unhandledErrors }: TestRunResult): Outcome {
  let passed = 0;
  for (const module of testModules) {
    for (const test of module.children.allTests()) {
      const { state, errors = [] } = test.result();
      if (state === 'failed')
        return { kind: 'failed', test: test.fullName, ...(errors.some(isTimeLimit) && { isByTime: true }) };
      if (state === 'passed') passed += 1;
    }
    const failedSuite = [...module.children.allSuites()].find(suite => suite.errors().length > 0);
    if (failedSuite) return { kind: 'failed', test: failedSuite.fullName };
    const [error] = module.errors();
    if (error) return { kind: 'broken', why: error.message };
  }
  const [unhandled] = unhandledErrors as { message?: string }[];
  if (unhandled) return { kind: 'failed', test: `an error outside of tests: ${unhandled.message}` };
  return passed > 0 ? { kind: 'passed', tests: passed } : { kind: 'broken', why: 'no test has that name' };
}
