import { testCoverage, testPrepared } from '@stak/table/prepared-suite';
import { describe } from 'vitest';
import { designs } from '../src/store/designs.ts';

// Sets are stored by the wire operations only.
const withSets = new Set(['revocation slot']);

describe('prepared operations on the tables of every service', () => {
  for (const table of designs) {
    testCoverage(table, withSets);
    testPrepared(table, { runs: process.env.STAK_LONG_TESTS ? 80 : 3, requests: 40 });
  }
});
