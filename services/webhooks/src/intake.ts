import type { Delivery } from './events-table.ts';
import type { HookRequest } from './filters/request-view.ts';
import type { Connection } from './main-table.ts';

export type DeliveryRef = { eventId: string; connectionId: string; run: number };
export type Keeper = Pick<Connection, 'connectionId' | 'sourceId' | 'userId'>;

// How a delivery is to be written: due now, into the backlog of its connection, or leased to a worker of this process
// that keeps a place for it. Of the two functions one is called, once: `start` after the write, `giveBack` if there
// was none.
export type Placement =
  | { how: 'due' | 'backlog' }
  | { how: 'leased'; owner: string; start(delivery: Delivery, request: HookRequest): void; giveBack(): void };

// Between those who write deliveries and those who make them, in one process. All of it is a shortcut: whatever is
// lost here is found in the due index.
export type Intake = {
  place(connection: Connection): Placement;
  // Due now.
  offer(ref: DeliveryRef): void;
  waiting(connectionId: string): number;
  isSlow(connectionId: string): boolean;
  // Something is due that is no delivery.
  wake(): void;
  // Before something is put into a connection's backlog.
  ensureArmed(connection: Keeper): Promise<void>;
};

// What a worker that runs here does for it.
export type Desk = Omit<Intake, 'ensureArmed'>;

// Without a worker in this process everything is written as due, and found by the worker of another one.
const unattended: Desk = {
  place: ({ breaker }) => ({ how: breaker === 'open' ? 'backlog' : 'due' }),
  offer: () => {},
  waiting: () => 0,
  isSlow: () => false,
  wake: () => {},
};

export function createIntake(ensureArmed: Intake['ensureArmed']): Intake & { attend(desk?: Desk): void } {
  let desk = unattended;
  return {
    ensureArmed,
    attend: (attending = unattended) => {
      desk = attending;
    },
    place: connection => desk.place(connection),
    offer: ref => desk.offer(ref),
    waiting: connectionId => desk.waiting(connectionId),
    isSlow: connectionId => desk.isSlow(connectionId),
    wake: () => desk.wake(),
  };
}
