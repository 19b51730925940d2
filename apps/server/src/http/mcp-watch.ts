import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { Call, LiveList } from './mcp-resources.ts';

// Follows lists for a client: each of them is a stream of events of the API, opened with the caller's credential, so it
// counts as one of their streams and ends when they lose access.

export type Watch = {
  uris: readonly string[]; // those that could be opened
  bus: ServerEventBus;
  stop(): void; // if nobody has begun to listen
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
  const bus: ServerEventBus = {
    publish: () => {}, // the events of the API are the only ones
    subscribe(listener) {
      for (const [uri, reader] of readers)
        follow(reader, () => listener({ kind: 'resource_updated', uri })).then(ended, ended);
      return stop;
    },
  };
  return { uris: [...readers.keys()], bus, stop };
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
