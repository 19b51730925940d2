import { describe, expect, it } from 'vitest';
import { deliveredShare, outcomesOf } from './event-outcomes.ts';

describe('the share of delivered events', () => {
  it('says what the chart beside it shows, however many attempts there were', () => {
    const days = [
      outcomesOf({ received: 9, statuses: { delivered: 5, filtered: 2, processing: 2 } }),
      outcomesOf(undefined),
    ];
    expect(days[0]).toEqual({ delivered: 5, filtered: 2, failed: 0, waiting: 2 });
    expect(deliveredShare(days)).toBe(1);
    const bad = outcomesOf({ received: 4, statuses: { delivered: 3, partial: 1 } });
    expect(deliveredShare([bad])).toBe(0.75);
    expect(deliveredShare([outcomesOf({ received: 1, statuses: { filtered: 1 } })])).toBeNull();
  });
});
