import { Worker } from 'node:worker_threads';
import { backgroundPriority, type Clock } from '@stak/kit';
import * as limits from './limits.ts';

export type Message = Readonly<Record<string, string | number | boolean | Uint8Array | undefined>>;

export type Job = {
  program: URL; // a module that exports `run(input, allowedMs)`
  input: Message;
  timeoutMs: number;
};

export type FailureReason =
  | 'time_limit'
  | 'memory_limit'
  | 'too_large' // the input or the output
  | 'crashed' // the program or its thread
  | 'busy'; // too many jobs are waiting: try again later

export type Reply = { ok: true; output: Message } | { ok: false; reason: FailureReason; message: string };

export const fail = (reason: FailureReason, message: string): Reply => ({ ok: false, reason, message });
export const crashed = fail('crashed', 'The sandbox ended unexpectedly');
const late = fail('time_limit', 'It took too long');

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

// The reply of a thread. A `spent` thread has used up its memory and must not be reused.
type Answer = { output: Message; spent: boolean } | { error: string };

// The thread gets no loaders, environment or standard streams: only its programs and its messages.
export function startThread(clock: Clock): Thread {
  const worker = new Worker(new URL('./sandbox-thread.mjs', import.meta.url), {
    name: 'sandbox',
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: limits.threadHeapMb, stackSizeMb: limits.threadStackMb },
    workerData: { outputBytes: limits.messageBytes, priority: backgroundPriority },
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

  // The thread's next message, or `otherwise` if it takes longer than this; then the thread is terminated.
  const expect = (ms: number, otherwise: Reply, send?: () => void): Promise<Answer | Reply> =>
    new Promise(resolve => {
      const answered = new AbortController();
      receive = message => {
        receive = () => {};
        answered.abort();
        resolve(message);
      };
      clock.sleep(ms, answered.signal).then(
        () => {
          void stop();
          receive(otherwise);
        },
        () => {},
      );
      send?.();
    });

  const stop = async () => {
    alive = false;
    await worker.terminate();
  };

  // Loading a program takes longer than most jobs, so it has a separate time limit.
  const loaded = new Set<string>();
  const load = async ({ href }: URL): Promise<Reply | undefined> => {
    if (loaded.has(href)) return undefined;
    const answer = await expect(limits.startMs, crashed, () => worker.postMessage({ program: href }));
    if (!alive || 'ok' in answer) return 'ok' in answer ? answer : crashed;
    if ('error' in answer) return fail('crashed', answer.error);
    loaded.add(href);
    return undefined;
  };

  return {
    async run({ program, input, timeoutMs }) {
      const failed = await load(program);
      if (failed) return failed;
      const job = { program: program.href, input, allowedMs: timeoutMs };
      const answer = await expect(timeoutMs + limits.graceMs, late, () => worker.postMessage(job));
      if ('ok' in answer) return answer;
      if ('error' in answer) return fail('crashed', answer.error);
      if (answer.spent) await stop();
      return 'tooLarge' in answer.output
        ? fail('too_large', 'The result is too large')
        : { ok: true, output: answer.output };
    },
    alive: () => alive,
    stop,
  };
}
