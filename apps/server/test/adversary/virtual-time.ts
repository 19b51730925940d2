import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { type Random, systemRandom } from '@stak/kit';

// The time, the timers and the randomness of this process, replaced for one run: time stands still while anything can
// run, then jumps to the next timer. Nothing here may wait for a socket, a file or a thread, because only then does
// everything that happens follow from the seed.

export type VirtualTime = {
  now(): number;
  after(ms: number, act: () => void): () => void;
  // Runs until `main` has ended. Throws if nothing is left that could bring that about.
  run<T>(main: () => Promise<T>): Promise<T>;
  // Gives the process its own time back.
  restore(): Promise<void>;
};

type Timer = { atMs: number; order: number; act: (() => void) | undefined };
type Act = (...args: never[]) => void;

const idleTurnsMost = 200; // of the real event loop, before a run that waits for nothing is given up

export function replaceTime(random: Random, startMs = Date.UTC(2026, 0, 1, 12)): VirtualTime {
  const realSetImmediate = globalThis.setImmediate;
  const turn = () => new Promise<void>(resolve => realSetImmediate(resolve));
  const immediates: Timer[] = [];
  const queue = createQueue();
  let nowMs = startMs;
  let order = 0;

  const after = (ms: number, act: () => void): Timer => {
    const delayMs = Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : 0;
    const timer = { atMs: nowMs + delayMs, order: order++, act };
    queue.push(timer);
    return timer;
  };
  const nextTurn = (act: () => void): Timer => {
    const timer = { atMs: nowMs, order: order++, act };
    immediates.push(timer);
    return timer;
  };
  const repeat = (ms: number, act: () => void): Timer => {
    const again = () => {
      const next = after(Math.max(1, ms), again);
      Object.assign(timer, { cancelNext: () => cancel(next) });
      act();
    };
    const timer = after(Math.max(1, ms), again);
    return timer;
  };
  const cancel = (timer: (Timer & { cancelNext?: () => void }) | undefined): void => {
    if (!timer) return;
    timer.act = undefined;
    timer.cancelNext?.();
  };

  const undo = [
    replaceTimers({ after, nextTurn, repeat, cancel }),
    replaceClocks(() => nowMs, startMs),
    replaceRandomness(random),
  ];

  // True if something was run.
  const step = (): boolean => {
    const timer = immediates.shift() ?? queue.pop();
    if (!timer) return false;
    nowMs = Math.max(nowMs, timer.atMs);
    const { act } = timer;
    timer.act = undefined;
    act?.();
    return true;
  };

  return {
    now: () => nowMs,
    after(ms, act) {
      const timer = after(ms, act);
      return () => cancel(timer);
    },
    async run(main) {
      let isOver = false;
      const ended = main().finally(() => {
        isOver = true;
      });
      ended.catch(() => {}); // it is awaited below
      for (let idle = 0; !isOver; ) {
        await turn(); // promises settle, until nothing but a timer can continue
        if (isOver) break;
        idle = step() ? 0 : idle + 1;
        if (idle > idleTurnsMost) throw new Error('Nothing is left to wait for, and the run has not ended.');
      }
      return ended;
    },
    async restore() {
      // Modules remember that they wait for the next turn of the event loop.
      for (let left = 1_000; immediates.length > 0 && left > 0; left--) {
        immediates.shift()!.act?.();
        await turn();
      }
      for (const one of undo.toReversed()) one();
    },
  };
}

// A heap of timers, the earliest first and those of one moment in the order in which they were set.
function createQueue() {
  const heap: Timer[] = [];
  const isBefore = (a: Timer, b: Timer) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  const swap = (i: number, j: number) => {
    const one = heap[i]!;
    heap[i] = heap[j]!;
    heap[j] = one;
  };
  const removeFirst = (): Timer => {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) heap[0] = last;
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let least = i;
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left;
      if (right < heap.length && isBefore(heap[right]!, heap[least]!)) least = right;
      if (least === i) return first;
      swap(i, least);
      i = least;
    }
  };
  return {
    push(timer: Timer): void {
      heap.push(timer);
      for (let i = heap.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1;
        if (!isBefore(heap[i]!, heap[parent]!)) break;
        swap(i, parent);
        i = parent;
      }
    },
    pop(): Timer | undefined {
      while (heap.length > 0) {
        const timer = removeFirst();
        if (timer.act) return timer;
      }
      return undefined;
    },
  };
}

type Timers = {
  after(ms: number, act: () => void): Timer;
  nextTurn(act: () => void): Timer;
  repeat(ms: number, act: () => void): Timer;
  cancel(timer: Timer | undefined): void;
};

function replaceTimers({ after, nextTurn, repeat, cancel }: Timers): () => void {
  const handle = (timer: Timer) => {
    const self = {
      timer,
      ref: () => self,
      unref: () => self,
      hasRef: () => true,
      close: () => cancel(timer),
    };
    return self;
  };
  const clear = (one: unknown) => cancel((one as { timer?: Timer } | undefined)?.timer);
  const rejectOn = (signal: AbortSignal | undefined, timer: Timer, reject: (reason: unknown) => void) =>
    signal?.addEventListener(
      'abort',
      () => {
        cancel(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  const functions = {
    setTimeout: (act: Act, ms = 0, ...args: never[]) => handle(after(ms, () => act(...args))),
    setInterval: (act: Act, ms = 0, ...args: never[]) => handle(repeat(ms, () => act(...args))),
    setImmediate: (act: Act, ...args: never[]) => handle(nextTurn(() => act(...args))),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
  const promises = {
    setTimeout: <T>(ms = 0, value?: T, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise((resolve, reject) =>
        rejectOn(
          signal,
          after(ms, () => resolve(value)),
          reject,
        ),
      ),
    setImmediate: <T>(value?: T) => new Promise(resolve => nextTurn(() => resolve(value))),
  };
  return join(
    replace(globalThis, functions),
    replace(timers, functions),
    replace(timersPromises, promises),
    sync(),
  );
}

function replaceClocks(now: () => number, startMs: number): () => void {
  return join(
    replace(Date, { now }),
    replace(performance, {
      now: () => now() - startMs,
      eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
    }),
    replace(AbortSignal, {
      timeout(ms: number) {
        const controller = new AbortController();
        setTimeout(() => controller.abort(new DOMException('Timed out', 'TimeoutError')), ms);
        return controller.signal;
      },
    }),
  );
}

function replaceRandomness(random: Random): () => void {
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
    return view;
  };
  const randomUUID = () => {
    const bytes = fill(Buffer.alloc(16));
    bytes[6] = (bytes[6]! & 15) | 64;
    bytes[8] = (bytes[8]! & 63) | 128;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  const restore = join(
    replace(Math, { random }),
    replace(crypto, {
      randomBytes: (bytes: number) => fill(Buffer.alloc(bytes)),
      randomFillSync: fill,
      randomInt: (low: number, high?: number) =>
        high === undefined ? Math.floor(random() * low) : low + Math.floor(random() * (high - low)),
      randomUUID,
    }),
    replace(globalThis.crypto, { getRandomValues: fill, randomUUID }),
    sync(),
  );
  // The rest of the real random numbers is used up.
  let isRefilled = false;
  const undo = join(
    replace(crypto, {
      randomFillSync: (view: ArrayBufferView) => {
        isRefilled = true;
        return fill(view);
      },
    }),
    sync(),
  );
  while (!isRefilled) systemRandom();
  undo();
  return restore;
}

const join =
  (...undo: (() => void)[]) =>
  () => {
    for (const one of undo) one();
  };

// The named exports of Node's own modules follow.
function sync(): () => void {
  syncBuiltinESMExports();
  return syncBuiltinESMExports;
}

function replace(target: object, functions: Record<string, unknown>): () => void {
  const before = Object.keys(functions).map(
    name => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  for (const [name, value] of Object.entries(functions))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    for (const [name, descriptor] of before)
      if (descriptor) Object.defineProperty(target, name, descriptor);
      else Reflect.deleteProperty(target, name);
  };
}
