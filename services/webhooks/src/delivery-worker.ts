import { setMaxListeners } from 'node:events';
import { createBell, type Owners, type Worker, watchGone } from '@stak/kit';
import { attemptDelivery, concurrencyOf, type RunDeps, runDue } from './delivery-run.ts';
import { createDispatcher, type Dispatcher, type Report } from './dispatcher.ts';
import { scanDue } from './due-scan.ts';
import type { createIntake, Desk } from './intake.ts';
import type { Jobs } from './jobs.ts';
import type { Lanes } from './lanes.ts';
import * as limits from './limits.ts';
import { releaseGone } from './takeover.ts';

export type DeliveryWorkerDeps = RunDeps & {
  owners: Owners;
  intake: ReturnType<typeof createIntake>;
  lanes: Lanes;
  jobs: Pick<Jobs, 'run'>;
};

// Makes the deliveries that are due, in this process and together with any other. Told to stop, it starts nothing
// more and finishes what is under way; what it cannot finish becomes due when its lease ends, or as soon as it is known
// to be gone.
export function createDeliveryWorker(deps: DeliveryWorkerDeps): Worker {
  const { clock, log, intake, lanes, jobs, owners } = deps;
  return {
    name: 'webhooks deliveries',
    async run(signal) {
      const owner = owners.next(); // every run is an owner of its own
      const cutOff = new AbortController();
      setMaxListeners(0, cutOff.signal); // every exchange listens
      const bell = createBell(clock);
      let enough = 0; // waiting below which it is worth looking for more

      // What fails here is due again when its lease ends.
      const logged = (what: string) => (error: unknown) => {
        log.error({ err: error }, `${what} failed`);
        return {} as Report;
      };
      const dispatcher: Dispatcher = createDispatcher({
        clock,
        run: ref => runDue(deps, ref, owner, cutOff.signal).catch(logged('a delivery')),
        onRoom: () => {
          if (dispatcher.waiting() < enough) bell.ring();
        },
      });
      // Each kind has places of its own: jobs may take hours, and backlogs must not wait for them.
      const background = {
        backlog: new Map<string, Promise<unknown>>(),
        job: new Map<string, Promise<unknown>>(),
      };
      const runOnce = (kind: keyof typeof background, id: string, run: () => Promise<void>) => {
        const running = background[kind];
        if (running.has(id) || running.size >= limits.backgroundRuns[kind]) return;
        running.set(
          id,
          run()
            .catch(logged(`a ${kind}`))
            .finally(() => {
              running.delete(id);
              bell.ring();
            }),
        );
      };

      intake.attend(createDesk(deps, dispatcher, owner, bell.ring, cutOff.signal, logged('a delivery')));
      const gone = watchGone(owners, bell.ring);
      try {
        while (!signal.aborted) {
          await gone.check(() => releaseGone(deps));
          const hasMore = await scanDue({
            ...deps,
            dispatcher,
            setAside: lanes.setAside,
            runLane: id => runOnce('backlog', id, () => lanes.run(id, owner, signal)),
            runJob: ref => runOnce('job', ref.jobId, () => jobs.run(ref, owner, signal)),
          });
          enough = hasMore ? dispatcher.waiting() / 2 : 0;
          await bell.wait(hasMore ? limits.rescanMs : limits.scanMs, signal);
        }
      } finally {
        gone.stop();
        intake.attend();
        dispatcher.stop();
        const drained = new AbortController();
        const { backlog, job } = background;
        const ending = Promise.all([dispatcher.idle(), ...backlog.values(), ...job.values()]).finally(() =>
          drained.abort(),
        );
        await clock.sleep(limits.drainMs, drained.signal).catch(() => {});
        cutOff.abort();
        await ending;
      }
    },
  };
}

function createDesk(
  deps: DeliveryWorkerDeps,
  dispatcher: Dispatcher,
  owner: string,
  wake: () => void,
  cutOff: AbortSignal,
  onError: (error: unknown) => Report,
): Desk {
  return {
    wake,
    place(connection) {
      const { connectionId, breaker, ordered, ratePerSecond } = connection;
      const isFull = dispatcher.waiting(connectionId) >= limits.readyPerConnection;
      if (breaker === 'open' || (isFull && dispatcher.isSlow(connectionId))) return { how: 'backlog' };
      // Whose turn it is, or whether there is room in the rate, is known only after the write.
      if (ordered || ratePerSecond !== undefined) return { how: 'due' };
      const reserved = dispatcher.reserve(connectionId, concurrencyOf(connection));
      if (!reserved) return { how: 'due' };
      return {
        how: 'leased',
        owner,
        giveBack: reserved.giveBack,
        start: (delivery, request) =>
          reserved.start(delivery, () =>
            attemptDelivery(deps, delivery, connection, request, cutOff).catch(onError),
          ),
      };
    },
    offer: ref => void dispatcher.offer(ref),
    waiting: connectionId => dispatcher.waiting(connectionId),
    isSlow: connectionId => dispatcher.isSlow(connectionId),
  };
}
