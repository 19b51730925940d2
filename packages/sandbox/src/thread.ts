import { Worker } from 'node:worker_threads';
import { backgroundPriority, type Clock } from '@stak/kit';
import * as limits from './limits.ts';
import { readProcessorMs } from './processor-time.ts';

export type Message = Readonly<Record<string, string | number | boolean | Uint8Array | undefined>>;

export type Job = {
  program: URL; // a module that exports `run(input, isOver)`
  input: Message;
  timeoutMs: number; // of processor time
};

export type FailureReason =
  | 'time_limit'
  | 'memory_limit'
  | 'too_large' // the input or the output
  | 'crashed' // the program or its thread
  | 'busy'; // too many jobs are waiting, or the machine had no time for this one: try again later

export type Reply = { ok: true; output: Message } | { ok: false; reason: FailureReason; message: string };

export const fail = (reason: FailureReason, message: string): Reply => ({ ok: false, reason, message });
const crashed = fail('crashed', 'The sandbox ended unexpectedly');
const tooLong = fail('time_limit', 'It took too long');
export const late = fail('busy', 'The machine had no time for it');

/** The URL of a program beside the calling module: a source file, or its bundle. */
export const programAt = (name: string, from: string): URL =>
  new URL(`./${name}.${from.endsWith('.ts') ? 'ts' : 'mjs'}`, from);

export function sizeOf(message: Message): number {
  let size = 0;
  for (const value of Object.values(message))
    size += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return size;
}

export type Thread = {
  // Runs one job at a time. A thread that did not reply has been terminated: `alive` is false.
  run(job: Job): Promise<Reply>;
  alive(): boolean;
  stop(): Promise<void>;
};

// The reply of a thread. A `spent` thread has used up its memory and must not be reused. Loading a program is answered
// with the `task` of the thread, for its processor time.
type Answer = { output: Message; spent: boolean } | { task: string | undefined } | { error: string };

// The thread gets no loaders, environment or standard streams: only its programs and its messages.
export function startThread(clock: Clock): Thread {
  const over = new Int32Array(new SharedArrayBuffer(4)); // whether the time of the running job is over
  const worker = new Worker(new URL('./sandbox-thread.mjs', import.meta.url), {
    name: 'sandbox',
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: limits.threadHeapMb, stackSizeMb: limits.threadStackMb },
    workerData: { outputBytes: limits.messageBytes, priority: backgroundPriority, over },
  });
  let alive = true;
  let receive: (answer: Answer | Reply) => void = () => {};
  const end = (reply: Reply) => {
    alive = false;
    receive(reply);
  };
  worker.on('message', (answer: Answer) => receive(answer));
  worker.on('error', (error: NodeJS.ErrnoException) =>
    end(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? fail('memory_limit', 'It used too much memory') : crashed,
    ),
  );
  worker.on('exit', () => end(crashed));
  worker.unref(); // an idle thread does not keep the process alive; a caller that waits for a reply does

  // The thread's next message. After `ms`, `judge` says for how much longer to wait, or with which reply the thread is
  // terminated.
  const expect = (ms: number, judge: () => number | Reply, message: object): Promise<Answer | Reply> =>
    new Promise(resolve => {
      const look = () => {
        const verdict = judge();
        if (typeof verdict === 'number') {
          cancel = clock.after(verdict, look);
          return;
        }
        void stop();
        receive(verdict);
      };
      let cancel = clock.after(ms, look);
      receive = answer => {
        receive = () => {};
        cancel();
        resolve(answer);
      };
      worker.postMessage(message);
    });

  const stop = async () => {
    alive = false;
    await worker.terminate();
  };

  // Loading a program takes longer than most jobs, so it has a separate time limit.
  const loaded = new Set<string>();
  let task: string | undefined;
  const load = async ({ href }: URL): Promise<Reply | undefined> => {
    if (loaded.has(href)) return undefined;
    const answer = await expect(limits.startMs, () => late, { program: href });
    if ('ok' in answer) return answer;
    if (!alive) return crashed;
    if ('error' in answer) return fail('crashed', answer.error);
    if ('task' in answer) task = answer.task;
    loaded.add(href);
    return undefined;
  };

  // Whether a job has used up its time. A job that the machine had no time for is late, and not at fault.
  const judgeJob = (timeoutMs: number): (() => number | Reply) => {
    const elapsed = () => (clock.elapsed ?? clock.now)();
    const startedMs = elapsed();
    const usedBeforeMs = readProcessorMs(task);
    const mostMs = Math.max(timeoutMs, limits.lateMs);
    Atomics.store(over, 0, 0);
    return () => {
      if (Atomics.load(over, 0) === 1) return tooLong;
      const passedMs = elapsed() - startedMs;
      const usedNowMs = readProcessorMs(task);
      // All time counts on systems that do not report the processor time of a thread.
      const isTold = usedBeforeMs !== undefined && usedNowMs !== undefined;
      const usedMs = isTold ? usedNowMs - usedBeforeMs : passedMs;
      if (usedMs >= timeoutMs) {
        Atomics.store(over, 0, 1);
        return limits.graceMs;
      }
      if (passedMs >= mostMs) return late;
      return Math.min(Math.max(timeoutMs - usedMs, limits.tickMs), mostMs - passedMs);
    };
  };

  return {
    async run({ program, input, timeoutMs }) {
      const failed = await load(program);
      if (failed) return failed;
      const answer = await expect(timeoutMs, judgeJob(timeoutMs), { program: program.href, input });
      if ('ok' in answer) return answer;
      if ('error' in answer) return fail('crashed', answer.error);
      if (!('output' in answer)) return crashed;
      if (answer.spent) await stop();
      return 'tooLarge' in answer.output
        ? fail('too_large', 'The result is too large')
        : { ok: true, output: answer.output };
    },
    alive: () => alive,
    stop,
  };
}
