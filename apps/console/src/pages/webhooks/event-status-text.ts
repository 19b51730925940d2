type Summary = { status: string; connections: number };

/** A source without a connection filters nothing: its events have nowhere to go yet. */
export const eventStatusText = ({ status, connections }: Summary): string =>
  status === 'filtered' && connections === 0 ? 'no connection' : status;

type Attempt = { connectionId: string; statusCode: number; error?: string | undefined; attemptedAt: number };
type Delivery = { connectionId: string; state: string; error?: string | undefined };
type Failure = { connectionId: string; isOver: boolean; reason: string };

/** Why each delivery of an event that has failed, or is tried again, did not arrive the last time. */
export const lastFailures = (event: {
  deliveries: readonly Delivery[];
  attempts: readonly Attempt[];
}): Failure[] =>
  event.deliveries
    .filter(({ state }) => state === 'failed' || state === 'retrying')
    .map(({ connectionId, state, error }) => {
      const last = event.attempts
        .filter(attempt => attempt.connectionId === connectionId)
        .toSorted((a, b) => a.attemptedAt - b.attemptedAt)
        .at(-1);
      return {
        connectionId,
        isOver: state === 'failed',
        reason: last?.error ?? error ?? 'There was no answer.',
      };
    });
