import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

// Runs a script of this bench in a fresh process and gives what it sent: times and memory of a process that has
// done nothing else.
export async function runScript<T>(name: string, args: readonly string[]): Promise<T> {
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = fork(script, args, { execArgv: ['--import', 'tsx'] });
  let answer: T | undefined;
  child.once('message', message => {
    answer = message as T;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 || answer === undefined) throw new Error(`${name} ended with ${code ?? 'a signal'}`);
  return answer;
}
