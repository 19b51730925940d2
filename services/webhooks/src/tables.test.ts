import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeliveryState, deliveryStates, isFinished, statusOf } from './tables.ts';

const withStates = (states: readonly DeliveryState[]) =>
  Object.fromEntries(states.map((state, i) => [`conn_${i}`, { state, run: 0 }]));

describe('the status of an event', () => {
  it.each([
    [[], 'filtered'],
    [['pending', 'pending'], 'received'],
    [['pending', 'delivered'], 'processing'],
    [['pending', 'retrying'], 'retrying'],
    [['delivered', 'retrying'], 'retrying'],
    [['filtered', 'filtered'], 'filtered'],
    [['filtered', 'delivered'], 'delivered'],
    [['delivered', 'failed'], 'partial'],
    [['delivered', 'cancelled'], 'partial'],
    [['failed', 'filtered'], 'failed'],
    [['cancelled'], 'failed'],
  ] as [DeliveryState[], string][])('of %j is %s', (states, status) => {
    expect(statusOf(withStates(states))).toBe(status);
  });

  it('does not depend on the order, and is final exactly when every delivery is', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...deliveryStates), { maxLength: 6 }), states => {
        const status = statusOf(withStates(states));
        expect(statusOf(withStates(states.toReversed()))).toBe(status);
        const isFinal = ['filtered', 'delivered', 'partial', 'failed'].includes(status);
        expect(isFinal).toBe(states.every(isFinished));
      }),
    );
  });
});
