import { expect, it } from 'vitest';
import { statusOf } from './connection-status.ts';

it.each([
  ['active', 'closed', 'Active'],
  ['active', 'half', 'Failing'],
  ['active', 'open', 'Failing'],
  ['paused', 'closed', 'Paused'],
  ['paused', 'open', 'Paused'],
  ['disabled', 'open', 'Disabled'],
  ['disabled', 'closed', 'Disabled'],
] as const)('a connection that is %s with its breaker %s is %s', (status, breaker, label) => {
  expect(statusOf({ status, breaker }).label).toBe(label);
});
