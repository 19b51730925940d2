import { describe } from 'vitest';
import { inbox } from './example-table.ts';
import { testCoverage, testPrepared } from './prepared-suite.ts';

describe('prepared operations', () => {
  testCoverage(inbox);
  testPrepared(inbox, { runs: 20, requests: 60 });
});
