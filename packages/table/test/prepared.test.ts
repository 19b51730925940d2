import { describe } from 'vitest';
import { inbox } from './example-table.ts';
import { testCoverage, testPrepared } from './prepared-suite.ts';

describe('prepared operations', () => {
  testCoverage(inbox);
  testPrepared(inbox, { runs: process.env.STAK_LONG_TESTS ? 20 : 6, requests: 60 });
});
