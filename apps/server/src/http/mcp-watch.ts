import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { Call, LiveList } from './mcp-resources.ts';

// Follows lists for a client: each of them is a stream of events of the API, opened with the caller's credential, so it
// counts as one of their streams and ends when they lose access.

export type Watch = {
  uris: readonly string[]; // those that could be opened
  bus: ServerEventBus;
  answer(response: Response): Response; // of the SDK: its stream, or why there is none
};

export async function openWatch(
  asked: readonly string[],
  lists: readonly LiveList[],
  call: Call,
  ended: () => void,
): Promise<Watch> {
  const readers = new Map<string, ReadableStreamDefaultReader<Uint8Array>>();
  for (const uri of new Set(asked)) {
    const path = lists.map(list => list.pathsOf(uri)).find(paths => paths !== undefined)?.events;
    if (path === undefined) continue;
    const response = await call(path, { headers: { accept: 'text/event-stream' } });
    if (response.ok && response.body) readers.set(uri, response.body.getReader());
    else await response.body?.cancel();
  }
  const stop = () => {
    for (const reader of readers.values()) reader.cancel().catch(() => {});
  };
  // A client that does not read is owed one notification for each list, however often that changes.
  const changed = new Set<string>();
  let isHeard = false;
  let isRead = false;
  let tell: (uri: string) => void = () => {};
  const tellAll = () => {
    const [uri] = changed;
    if (!isRead || uri === undefined) return;
    changed.delete(uri);
    tell(uri);
  };
  const bus: ServerEventBus = {
    publish: () => {}, // the events of the API are the only ones
    subscribe(listener) {
      isHeard = true;
      tell = uri => listener({ kind: 'resource_updated', uri });
      for (const [uri, reader] of readers)
        follow(reader, () => {
          changed.add(uri);
          tellAll();
        }).then(ended, ended);
      return stop;
    },
  };
  const pace = (body: ReadableStream<Uint8Array>) => {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          isRead = true;
          tellAll();
          const { done, value } = await reader.read();
          isRead = false;
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: reason => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  };
  return {
    uris: [...readers.keys()],
    bus,
    answer(response) {
      if (isHeard && response.body) return new Response(pace(response.body), response);
      stop();
      return response;
    },
  };
}

// Says that the stream is open, or that it ends: nothing has changed.
const isChange = (event: string): boolean => /^data:/m.test(event) && !/^event: (?:open|end)$/m.test(event);

async function follow(reader: ReadableStreamDefaultReader<Uint8Array>, changed: () => void): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const events = (text + decoder.decode(chunk.value, { stream: true })).split('\n\n');
    text = events.pop()!;
    if (events.some(isChange)) changed();
  }
}
