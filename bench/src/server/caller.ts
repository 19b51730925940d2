import { type Answer, type Connection, openConnection } from './connection.ts';
import { type Request, textOf } from './load.ts';

export type Caller = {
  // Uses an idle connection. Throws unless the response has the status.
  call(request: Request, status: number): Promise<Answer>;
  close(): void;
};

export function createCaller(url: string): Caller {
  const { port, host } = new URL(url);
  let idle: Connection[] = [];
  const all: Connection[] = [];
  const take = async () => {
    idle = idle.filter(connection => connection.isOpen());
    const known = idle.pop();
    if (known) return known;
    const opened = await openConnection(Number(port));
    all.push(opened);
    return opened;
  };
  return {
    async call(request, status) {
      const connection = await take();
      const answer = await connection.send(Buffer.from(textOf(request, host)));
      idle.push(connection);
      if (answer.status !== status)
        throw new Error(
          `${request.method} ${request.path}: ${answer.status} instead of ${status}: ${answer.body}`,
        );
      return answer;
    },
    close() {
      for (const connection of all) connection.close();
    },
  };
}
