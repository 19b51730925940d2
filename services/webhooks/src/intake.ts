import type { Delivery } from './events-table.ts';
import type { HookRequest } from './filters/request-view.ts';
import type { Connection } from './main-table.ts';

export type DeliveryRef = { eventId: string; connectionId: string; run: number };
export type Keeper = Pick<Connection, 'connectionId' | 'sourceId' | 'userId'>;

// Between those who write deliveries and those who make them, in one process. All of it is a shortcut: whatever is
// lost here is found in the due index.
export type Intake = {
  // How a delivery is to be written. `leased`: it will be started here at once, and a place for it is kept.
  place(connection: Connection): 'leased' | 'due' | 'backlog';
  owner(): string;
  // The write did not happen.
  giveBack(connectionId: string): void;
  start(delivery: Delivery, connection: Connection, request: HookRequest): void;
  // Due now.
  offer(ref: DeliveryRef): void;
  waiting(connectionId: string): number;
  // Something is due that is no delivery.
  wake(): void;
  // Before something is put into a connection's backlog.
  ensureArmed(connection: Keeper): Promise<void>;
};

// What a worker that runs here does for it.
export type Desk = Omit<Intake, 'ensureArmed'>;

// Without a worker in this process everything is written as due, and found by the worker of another one.
const unattended: Desk = {
  place: ({ breaker }) => (breaker === 'open' ? 'backlog' : 'due'),
  owner: () => '',
  giveBack: () => {},
  start: () => {},
  offer: () => {},
  waiting: () => 0,
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
    owner: () => desk.owner(),
    giveBack: connectionId => desk.giveBack(connectionId),
    start: (...begun) => desk.start(...begun),
    offer: ref => desk.offer(ref),
    waiting: connectionId => desk.waiting(connectionId),
    wake: () => desk.wake(),
  };
}
