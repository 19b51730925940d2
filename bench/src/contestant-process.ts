import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Load, Round, Runner } from './harness.ts';

export type Command<Settings = unknown> =
  | { kind: 'start'; module: string; settings: Settings }
  | { kind: 'run'; load: Load }
  | { kind: 'close' };
export type Reply = { value?: Round; error?: string };

export type ContestantProcess = Runner & { operations?: string[]; close(): Promise<void> };

// `module` is the URL of a contestant's module, as `import.meta.resolve` returns it.
export async function startContestant<Settings>(
  name: string,
  module: string,
  settings: Settings,
): Promise<ContestantProcess> {
  const child = fork(fileURLToPath(new URL('./contestant-host.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx', ...process.execArgv.filter(flag => flag.startsWith('--cpu-prof'))],
    env: { ...process.env, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  });
  const ask = (command: Command<Settings>) => exchange(child, name, command);
  await ask({ kind: 'start', module, settings });
  return {
    name,
    run: async load => (await ask({ kind: 'run', load })).value!,
    async close() {
      const gone = new Promise(resolve => child.once('exit', resolve));
      await ask({ kind: 'close' });
      child.disconnect();
      await gone;
    },
  };
}

function exchange<Settings>(child: ChildProcess, name: string, command: Command<Settings>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${name} ended with ${code ?? 'a signal'}`));
    child.once('exit', onExit);
    child.once('message', (reply: Reply) => {
      child.off('exit', onExit);
      if (reply.error === undefined) resolve(reply);
      else reject(new Error(`${name}: ${reply.error}`));
    });
    child.send(command);
  });
}
