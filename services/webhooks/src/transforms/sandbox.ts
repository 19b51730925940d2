import type { Clock } from '@stak/kit';
import { createLaneQueue } from './lane-queue.ts';
import * as limits from './limits.ts';
import { crashed, type Reply, type SandboxThread, type Script, startThread } from './sandbox-thread.ts';

export type Sandbox = {
  run(script: Script, lane: string): Promise<Reply>;
  threads(): number;
  close(): Promise<void>;
};

export type SandboxSettings = {
  clock: Clock;
  threads?: number;
  scriptsWaiting?: number;
  scriptMs?: number;
};

const busy: Reply = { reason: 'busy', message: 'Too many scripts are waiting' };
const closedReply: Reply = { reason: 'busy', message: 'The sandbox is closed' };

// A few threads, started when there is work and ended when there was none for a while. One lane never holds all of
// them, so a customer whose scripts hang delays only himself.
export function createSandbox(settings: SandboxSettings): Sandbox {
  const { clock, scriptMs = limits.scriptMs, scriptsWaiting = limits.scriptsWaiting } = settings;
  const most = Math.max(2, settings.threads ?? limits.threads);
  const queue = createLaneQueue<{ script: Script; resolve: (reply: Reply) => void }>();
  const idle: SandboxThread[] = [];
  const busyThreads = new Set<SandboxThread>();
  const runningIn = new Map<string, number>();
  let rest = new AbortController(); // ends the wait for idleness
  let closed = false;

  const countLane = (lane: string, step: number) => {
    const running = (runningIn.get(lane) ?? 0) + step;
    if (running === 0) runningIn.delete(lane);
    else runningIn.set(lane, running);
  };
  const mayRun = (lane: string) => (runningIn.get(lane) ?? 0) < most - 1;

  const takeIdle = (): SandboxThread | undefined => {
    let thread = idle.pop();
    while (thread && !thread.alive()) thread = idle.pop();
    return thread;
  };

  const serve = async (lane: string, script: Script): Promise<Reply> => {
    let thread: SandboxThread;
    try {
      thread = takeIdle() ?? startThread({ clock, scriptMs });
    } catch {
      return crashed; // the system has no thread to give
    }
    busyThreads.add(thread);
    countLane(lane, 1);
    const reply = await thread.run(script);
    countLane(lane, -1);
    busyThreads.delete(thread);
    if (thread.alive() && !closed) idle.push(thread);
    return reply;
  };

  const pump = () => {
    while (!closed && busyThreads.size < most) {
      const next = queue.take(mayRun);
      if (!next) break;
      rest.abort();
      void serve(next.lane, next.item.script).then(reply => {
        next.item.resolve(reply);
        pump();
      });
    }
    if (busyThreads.size === 0 && idle.length > 0) restAfterWork();
  };

  const restAfterWork = () => {
    rest = new AbortController();
    clock.sleep(limits.idleMs, rest.signal).then(
      () => Promise.all(idle.splice(0).map(thread => thread.stop())),
      () => {},
    );
  };

  return {
    run: (script, lane) =>
      new Promise(resolve => {
        if (closed) return resolve(closedReply);
        if (queue.size() >= scriptsWaiting || queue.size(lane) >= limits.scriptsOfLane) return resolve(busy);
        queue.push(lane, { script, resolve });
        pump();
      }),
    threads: () => idle.length + busyThreads.size,
    async close() {
      closed = true;
      rest.abort();
      for (let next = queue.take(() => true); next; next = queue.take(() => true))
        next.item.resolve(closedReply);
      await Promise.all([...idle.splice(0), ...busyThreads].map(thread => thread.stop()));
    },
  };
}
