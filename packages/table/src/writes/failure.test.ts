import { expect, it } from 'vitest';
import { tableErrors } from '../errors.ts';
import { failedStep } from './failure.ts';

it('returns the step whose condition failed, not one that also conflicted', () => {
  const conflict = { step: 'the user', reason: 'conflict', message: '' };
  const refused = { step: 'take email', reason: 'condition_failed', message: '' };
  const failed = (...failures: object[]) => tableErrors.create('table.transaction_failed', '', { failures });
  expect(failedStep(failed(conflict, refused))).toEqual(refused);
  expect(failedStep(failed(conflict))).toEqual(conflict);
  expect(failedStep(new Error('an outage'))).toBeUndefined();
});
