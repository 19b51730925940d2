import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

// Instructions in user mode, by the processor's own counter. They vary less than time. Many virtual machines have no
// such counter.

const args = ['stat', '-x', ',', '-e', 'instructions:u'];
const attachMs = 100;

export type InstructionCount = { stop(): Promise<number | undefined> };

export async function countsInstructions(): Promise<boolean> {
  try {
    return parseInstructions((await promisify(execFile)('perf', [...args, 'true'])).stderr) !== undefined;
  } catch {
    return false; // perf is not installed, or may not be used
  }
}

// Counts the processes, their threads, and the processes they start.
export async function countInstructions(pids: readonly number[]): Promise<InstructionCount> {
  const perf = spawn('perf', [...args, '-p', pids.join(',')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exit = once(perf, 'close');
  let text = '';
  perf.stderr.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  await sleep(attachMs);
  return {
    async stop() {
      perf.kill('SIGINT');
      await exit;
      return parseInstructions(text);
    },
  };
}

export function parseInstructions(text: string): number | undefined {
  const count = text.match(/^(\d+),[^,]*,instructions/m);
  return count ? Number(count[1]) : undefined;
}
