import cluster, { type Worker } from 'node:cluster';
import { type Child, createHandovers } from './handovers.ts';
import type { FromWorker, ToWorker } from './supervised.ts';

// Starts the serving processes on one port, and restarts those that exit. It loads neither the engine nor a service, so
// that their failures cannot end it. Its only other work is to hand out connections, round-robin (node:cluster).

export type Supervision = {
  workers: number;
  port: number; // not 0: if all workers die at once, the next ones must listen on the same port
  stopMs: number; // how long a worker may take to stop
  log(level: 'warn' | 'error', fields: object, message: string): void;
  stopped: Promise<void>;
  // Whether the data folder still exists. Without it, a restarted worker would begin with an empty store.
  isStoreThere(): boolean;
  onServing(url: string): void; // the first worker serves
};

type Slot = {
  worker: number;
  process?: Worker;
  startedAt: number;
  isWaiting: boolean; // for the first to be ready
  isReady: boolean;
  failures: number;
  restart?: NodeJS.Timeout;
};
type Gathering = { answers: unknown[]; missing: Set<number>; finish(): void };

const healthyMs = 60_000; // a worker that ran this long starts again at once
const backoffFirstMs = 250;
const backoffMostMs = 30_000;
const gatherMs = 5_000; // a scrape waits ten seconds; a worker that is busy for five is left out

// Resolves with the exit code when all workers have exited: zero after a stop, or that of the first worker if it cannot
// start.
export function supervise(supervision: Supervision): Promise<number> {
  const { workers, port, stopMs, log, stopped, isStoreThere, onServing } = supervision;
  const slots = Array.from({ length: workers }, (_, i): Slot => newSlot(i + 1));
  const shared = new Map<string, unknown>();
  const gatherings = createGatherings(slots);
  let isPrepared = false; // the first worker has done what is done once
  let hasStarted = false; // the first worker has served, so the configuration is good
  let isServing = false;
  let exitCode: number | undefined;

  return new Promise(resolve => {
    function start(slot: Slot): void {
      slot.restart = undefined;
      slot.isReady = false;
      slot.isWaiting = false;
      slot.startedAt = performance.now();
      const child = cluster.fork();
      slot.process = child;
      handovers.watch(child.process as unknown as Child);
      child.on('message', (message: FromWorker) => hear(slot, child, message));
      child.on('exit', (code, signal) => noteExit(slot, code, signal));
      child.on('error', error =>
        log('error', { worker: slot.worker, err: error.message }, 'worker cannot be reached'),
      );
    }

    const findServing = () =>
      slots.find(({ isReady, process: child }) => isReady && child?.isConnected())?.process?.process as
        | Child
        | undefined;
    const handovers = createHandovers(findServing);

    function go(slot: Slot): void {
      slot.isWaiting = false;
      const isFirst = !isPrepared && slot === slots[0];
      sendTo(slot, { kind: 'go', worker: slot.worker, port, isFirst, isServing, shared: [...shared] });
    }

    function hear(slot: Slot, child: Worker, message: FromWorker): void {
      if (slot.process !== child) return;
      if (message.kind === 'hello') {
        // A message that was sent before this one is lost: node:cluster has already read it.
        if (exitCode !== undefined) sendTo(slot, { kind: 'stop' });
        else if (hasStarted || slot === slots[0]) go(slot);
        else slot.isWaiting = true; // for the first, while it loads its modules
      } else if (message.kind === 'ready') noteReady(slot, message.url);
      else if (message.kind === 'prepared') isPrepared = true;
      else if (message.kind === 'output lost') stopAll(message.code);
      else if (message.kind === 'share') {
        shared.set(message.name, message.value);
        for (const other of slots) if (other !== slot) sendTo(other, { ...message, kind: 'shared' });
      } else if (message.kind === 'gather') gatherings.start(slot, message.id, message.name);
      else if (message.kind === 'answer') gatherings.take(slot, message.id, message.value);
    }

    function noteReady(slot: Slot, url: string): void {
      slot.isReady = true;
      if (!hasStarted) {
        hasStarted = true;
        for (const other of slots) if (other.isWaiting) go(other);
      }
      if (isServing) return;
      isServing = true;
      onServing(url);
      for (const slot of slots) sendTo(slot, { kind: 'serving' });
    }

    function noteExit(slot: Slot, code: number, signal: string | null): void {
      slot.process = undefined;
      slot.isReady = false;
      gatherings.leave(slot);
      if (exitCode === undefined && !hasStarted && slot === slots[0]) {
        // It has logged why. The others would fail for the same reason.
        exitCode = code || 1;
        for (const { process: child } of slots) child?.process.kill('SIGKILL');
      }
      if (exitCode !== undefined) {
        if (slots.every(slot => !slot.process)) resolve(exitCode);
        return;
      }
      if (hasStarted && !isStoreThere()) {
        log('error', { worker: slot.worker, code, signal }, 'the data folder is gone: stopping');
        stopAll(1);
        return;
      }
      const ranMs = performance.now() - slot.startedAt;
      slot.failures = ranMs >= healthyMs ? 0 : slot.failures + 1;
      const delayMs = restartDelayMs(slot);
      log('error', { worker: slot.worker, code, signal, delayMs }, 'worker ended, starting it again');
      slot.restart = setTimeout(start, delayMs, slot);
    }

    function stopAll(code: number): void {
      if (exitCode !== undefined) return;
      exitCode = code;
      for (const slot of slots) {
        clearTimeout(slot.restart);
        sendTo(slot, { kind: 'stop' });
      }
      if (slots.every(slot => !slot.process)) {
        resolve(code);
        return;
      }
      setTimeout(() => {
        for (const { worker, process: child } of slots) {
          if (!child) continue;
          log('error', { worker, stopMs }, 'worker did not stop in time, killing it');
          child.process.kill('SIGKILL');
        }
      }, stopMs).unref();
    }

    void stopped.then(() => stopAll(0));
    for (const slot of slots) start(slot);
  });
}

function sendTo({ process: child }: Slot, message: ToWorker): void {
  if (child?.isConnected()) child.send(message, () => {});
}

const restartDelayMs = ({ failures }: Slot): number =>
  failures <= 1 ? 0 : Math.min(backoffMostMs, backoffFirstMs * 2 ** (failures - 2));

// Asks every ready worker, and sends the answers to the one that requested them.
function createGatherings(slots: readonly Slot[]) {
  const gatherings = new Map<number, Gathering>();
  let last = 0;
  const settle = (gathering: Gathering | undefined, { worker }: Slot, answers: readonly unknown[]): void => {
    if (!gathering?.missing.delete(worker)) return;
    gathering.answers.push(...answers);
    if (gathering.missing.size === 0) gathering.finish();
  };
  return {
    start(asker: Slot, id: number, name: string): void {
      const asked = slots.filter(({ isReady }) => isReady);
      const gatheringId = ++last;
      const answers: unknown[] = [];
      const finish = () => {
        clearTimeout(deadline);
        gatherings.delete(gatheringId);
        sendTo(asker, { kind: 'gathered', id, answers });
      };
      const deadline = setTimeout(finish, gatherMs);
      gatherings.set(gatheringId, { answers, missing: new Set(asked.map(({ worker }) => worker)), finish });
      for (const slot of asked) sendTo(slot, { kind: 'ask', id: gatheringId, name });
    },
    take: (from: Slot, id: number, value: unknown) => settle(gatherings.get(id), from, [value]),
    // A worker that has exited will not answer.
    leave(slot: Slot): void {
      for (const gathering of gatherings.values()) settle(gathering, slot, []);
    },
  };
}

const newSlot = (worker: number): Slot => ({
  worker,
  startedAt: 0,
  isWaiting: false,
  isReady: false,
  failures: 0,
});
