import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { textOf } from './load.ts';

export type StreamRequest = { path: string; token: string };
export type EventStreams = { close(): void };

const longestMark = 64;

// Opens event streams, one for each request. Our server sends each event as one chunk, so chunks are not joined.
// `onMark` gets the matches of the pattern's first group, at least once. Resolves when every stream has sent something.
export async function openEventStreams(
  url: string,
  requests: readonly StreamRequest[],
  pattern: RegExp,
  onMark: (mark: string) => void,
): Promise<EventStreams> {
  const { port, host } = new URL(url);
  const sockets: Socket[] = [];
  const open = async ({ path, token }: StreamRequest) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    sockets.push(socket);
    let rest = '';
    const spoken = new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('data', chunk => {
        const text = rest + chunk.toString('latin1');
        for (const [, mark] of text.matchAll(pattern)) onMark(mark!);
        if (rest === '' && !text.startsWith('HTTP/1.1 200'))
          reject(new Error(`no event stream: ${text.slice(0, 500)}`));
        if (text.includes('event: ')) resolve();
        rest = text.slice(-longestMark);
      });
    });
    await once(socket, 'connect');
    const headers = { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' };
    socket.write(textOf({ method: 'GET', path, headers }, host));
    await spoken;
  };
  await Promise.all(requests.map(open));
  return {
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
