import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

/**
 * Says which tests were tried again, with their first error, so that a retry does not hide that a test is flaky. Writes
 * a line for each to the file of TEST_RETRIES_FILE, which `.ci/run` counts over all its runs.
 */
export default class RetryReporter implements Reporter {
  #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const { retryCount = 0 } = test.diagnostic() ?? {};
    if (retryCount === 0) return;
    const { state, errors = [] } = test.result();
    const reason = (errors[0]?.message ?? 'no error').replaceAll(/\s+/g, ' ').slice(0, 300);
    this.#lines.push(`${test.module.relativeModuleId}: ${test.fullName}: then ${state}, first: ${reason}`);
  }

  onTestRunEnd(): void {
    if (this.#lines.length === 0) return;
    console.log(`\n${this.#lines.length} tests were tried again:\n${this.#lines.join('\n')}`);
    const file = process.env.TEST_RETRIES_FILE;
    if (file) appendFileSync(file, `${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }
}
