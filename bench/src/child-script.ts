import { fork } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

// Runs a script in a fresh process and returns what it sent, so that times and memory include nothing else. `module` is
// its URL, as `import.meta.resolve` returns it.
export async function runScript<T>(module: string, args: readonly string[]): Promise<T> {
  const script = fileURLToPath(module);
  const child = fork(script, args, { execArgv: ['--import', 'tsx'] });
  let answer: T | undefined;
  child.once('message', message => {
    answer = message as T;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 || answer === undefined)
    throw new Error(`${basename(script)} ended with ${code ?? 'a signal'}`);
  return answer;
}
