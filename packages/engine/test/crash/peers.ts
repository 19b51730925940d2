import { fork } from 'node:child_process';
import { once } from 'node:events';
import { programOf } from './program.ts';

// Other processes on the same folder.

type Call = { operation: string; input: object };
export type Result = { value?: object; error?: string };
export type Request = { id: number; calls?: Call[]; waitFor?: { target: string; since: number } };
export type Answer = { id: number; results: Result[] };

export type Peer = Awaited<ReturnType<typeof startPeer>>;

const program = programOf('peer-process');

export async function startPeer(folder: string) {
  const child = fork(program.at(-1)!, [folder], { execArgv: program.slice(0, -1) });
  const waiting = new Map<number, (results: Result[]) => void>();
  let lastId = 0;
  child.on('message', ({ id, results }: Answer) => waiting.get(id)?.(results));
  const [ready] = (await once(child, 'message')) as [Answer];
  const { engine: engineId } = ready.results[0]!.value as { engine: string };

  function ask(request: Omit<Request, 'id'>): Promise<Result[]> {
    const id = ++lastId;
    return new Promise(resolve => {
      waiting.set(id, resolve);
      child.send({ id, ...request } satisfies Request);
    });
  }

  const callAll = (operation: string, inputs: object[]): Promise<Result[]> =>
    ask({ calls: inputs.map(input => ({ operation, input })) });

  async function call<T = object>(operation: string, input: object): Promise<T> {
    const [result] = await callAll(operation, [input]);
    if (result?.error) throw Object.assign(new Error(result.error), { name: result.error });
    return result!.value as T;
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.disconnect();
    await once(child, 'exit');
  }

  const waitForChange = (target: string, since: number) => ask({ waitFor: { target, since } });
  return { engineId, call, callAll, waitForChange, kill, stop };
}
