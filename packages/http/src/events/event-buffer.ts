import { formatEvent, type ServerEvent } from './event-text.ts';

// The reason that a client gets in the last event, named `end`.
export type EndReason =
  | 'done'
  | 'slow_consumer'
  | 'lifetime'
  | 'unauthenticated'
  | 'refused'
  | 'stopping'
  | 'failed';

export type EventBuffer = {
  readonly stream: ReadableStream<Uint8Array>;
  readonly signal: AbortSignal; // aborted with the reason when the stream has ended or is no longer read
  send(event: ServerEvent): void;
  comment(text: string): void;
  retryAfter(ms: number): void;
  ready(): Promise<void>;
  end(reason: EndReason): void;
};

const encoder = new TextEncoder();

// Events that one consumer has not read yet. It never exceeds its size by more than one event: the next one ends the
// stream instead. Clients of another protocol do not know the `end` event: for them the stream just ends.
export function createEventBuffer(mostBytes: number, { namesEnd = true } = {}): EventBuffer {
  const over = new AbortController();
  const waiting: (() => void)[] = [];
  let controller!: ReadableStreamDefaultController<Uint8Array>; // the constructor calls start() at once

  const room = (): number => controller.desiredSize ?? 0;
  const hasRoom = () => room() > mostBytes / 2;

  const stop = (reason: EndReason | 'gone') => {
    over.abort(reason);
    for (const resolve of waiting.splice(0)) resolve();
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start: given => {
        controller = given;
      },
      pull: () => {
        if (!hasRoom()) return;
        for (const resolve of waiting.splice(0)) resolve();
      },
      cancel: () => stop('gone'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: mostBytes }),
  );

  const end = (reason: EndReason) => {
    if (over.signal.aborted) return;
    if (namesEnd) controller.enqueue(encoder.encode(formatEvent({ event: 'end', data: { reason } })));
    controller.close();
    stop(reason);
  };

  const write = (text: string) => {
    if (over.signal.aborted) return;
    if (room() <= 0) end('slow_consumer');
    else controller.enqueue(encoder.encode(text));
  };

  return {
    stream,
    signal: over.signal,
    end,
    send: event => write(formatEvent(event)),
    comment: text => write(`: ${text}\n\n`),
    retryAfter: ms => write(`retry: ${ms}\n\n`),
    ready: async () => {
      if (!over.signal.aborted && !hasRoom()) await new Promise<void>(resolve => waiting.push(resolve));
    },
  };
}
