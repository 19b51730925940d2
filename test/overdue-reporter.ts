import { appendFileSync, readFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

const patienceMs = 5 * 60_000; // no test may take that long

/**
 * Ends the run, and says where, when a file neither passes nor fails. The runner's own timeouts do not see one that
 * never finishes loading, nor one that holds its thread. Repeats errors outside a test in the file of
 * TEST_ERRORS_FILE, because the runner's JSON report leaves them out.
 */
export default class OverdueReporter implements Reporter {
  #begun = new Map<string, { at: number; test?: string }>();
  #look: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#look = setInterval(() => this.#endIfOverdue(), 5_000).unref();
  }

  onTestModuleQueued({ relativeModuleId }: TestModule): void {
    this.#begun.set(relativeModuleId, { at: Date.now() });
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    const begun = this.#begun.get(module.relativeModuleId); // none if the word comes after the module's end
    if (begun) Object.assign(begun, { at: Date.now(), test: fullName });
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#begun.delete(relativeModuleId);
  }

  onTestRunEnd(_: readonly TestModule[], errors: readonly SerializedError[]): void {
    clearInterval(this.#look);
    const file = process.env.TEST_ERRORS_FILE;
    if (!file) return;
    for (const { stack, message, cause, VITEST_TEST_PATH: path } of errors)
      appendFileSync(
        file,
        `outside a test${path ? `, in ${path}` : ''}: ${stack ?? message}\n${cause?.stack ?? ''}\n`,
      );
  }

  #endIfOverdue(): void {
    const overdue = [...this.#begun].filter(([, { at }]) => Date.now() - at > patienceMs);
    if (overdue.length === 0) return;
    for (const [module, { test }] of overdue) {
      const where = test === undefined ? 'while it was loaded' : `in “${test}”`;
      console.error(`${module} has stood still for ${patienceMs / 60_000} minutes, ${where}`);
    }
    for (const child of childProcesses()) process.kill(child, 'SIGKILL'); // one that is stuck would outlive us
    process.exit(75);
  }
}

function childProcesses(): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim();
  return pids === '' ? [] : pids.split(' ').map(Number);
}
