// The code inside a sandbox thread. Plain JavaScript, because a thread started by tsx or Vitest does not inherit their
// loaders.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

// On Linux a priority belongs to the calling thread. Elsewhere it would be that of the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(0, workerData.priority);
  } catch {
    // A container may forbid it; then the scheduler shares processors evenly.
  }
}

// The name of this thread below /proc, where Linux tells its processor time.
const task = (() => {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return undefined;
  }
})();

const isOver = () => Atomics.load(workerData.over, 0) === 1;

const programs = new Map();
let isLoading;

async function load(address) {
  if (address.endsWith('.ts')) {
    isLoading ??= import('tsx/esm/api').then(({ register }) => register());
    await isLoading;
  }
  programs.set(address, await import(address));
}

async function run({ program, input }) {
  if (!programs.has(program)) {
    await load(program);
    return { task };
  }
  const { run: start, isSpent = () => false } = programs.get(program);
  const output = await start(input, isOver);
  let size = 0;
  for (const value of Object.values(output)) size += value?.length ?? 8;
  return { output: size > workerData.outputBytes ? { tooLarge: true } : output, spent: isSpent() };
}

parentPort.on('message', message =>
  run(message).then(
    answer => parentPort.postMessage(answer),
    error => parentPort.postMessage({ error: String(error?.message ?? error).slice(0, 500) }),
  ),
);
