import type { Contestant } from '../contestant.ts';
import { type Connection, openConnection } from './connection.ts';

// The client's side, for `contestant-host.ts`: sends the given requests in rotation, and checks the responses.

export type Request = {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
};
// Several requests are sent in rotation: many callers, many keys.
export type Operation = { requests: readonly Request[]; status: number };
export type LoadSettings = { url: string; operations: Readonly<Record<string, Operation>> };

export async function start({ url, operations }: LoadSettings): Promise<Contestant> {
  const { port, host } = new URL(url);
  let idle: Connection[] = [];
  const calls = Object.entries(operations).map(([name, { requests, status }]) => {
    const texts = requests.map(request => Buffer.from(textOf(request, host)));
    let turn = 0;
    const call = async () => {
      idle = idle.filter(connection => connection.isOpen());
      const connection = idle.pop() ?? (await openConnection(Number(port)));
      const answer = await connection.send(texts[turn++ % texts.length]!);
      if (answer.status !== status)
        throw new Error(`${name}: ${answer.status} instead of ${status}: ${answer.body}`);
      idle.push(connection);
    };
    return [name, call];
  });
  return {
    operations: Object.fromEntries(calls),
    close: async () => {
      for (const connection of idle) connection.close();
    },
  };
}

export function textOf({ method, path, headers = {}, body }: Request, host: string): string {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: host, ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}
