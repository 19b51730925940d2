import { describe, expect, it } from 'vitest';
import { eventStatusText, lastFailures } from './event-status-text.ts';

describe('the status of an event', () => {
  it('says that there was no connection, rather than that a filter kept it', () => {
    expect(eventStatusText({ status: 'filtered', connections: 0 })).toBe('no connection');
    expect(eventStatusText({ status: 'filtered', connections: 1 })).toBe('filtered');
    expect(eventStatusText({ status: 'received', connections: 0 })).toBe('received');
  });

  it('comes with the reason of the last attempt, for each delivery that did not arrive', () => {
    const attempt = (connectionId: string, attemptedAt: number, error?: string) => ({
      connectionId,
      statusCode: error ? 500 : 200,
      attemptedAt,
      error,
    });
    const deliveries = [
      { connectionId: 'a', state: 'failed', error: 'older' },
      { connectionId: 'b', state: 'delivered' },
      { connectionId: 'c', state: 'retrying', error: 'The connection cannot be used as it is' },
    ];
    const attempts = [
      attempt('a', 2, 'The destination answered 502'),
      attempt('a', 1, 'The destination answered 500'),
      attempt('b', 1),
    ];
    expect(lastFailures({ deliveries, attempts })).toEqual([
      { connectionId: 'a', isOver: true, reason: 'The destination answered 502' },
      { connectionId: 'c', isOver: false, reason: 'The connection cannot be used as it is' },
    ]);
  });
});
