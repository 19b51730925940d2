import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { benchServer, bundle, nodeFlags } from './bundle.ts';
import type { Usage } from './child.ts';

export type ServerProcess = {
  url: string;
  pid: number;
  cpuUs(): Promise<number>; // processor time so far
  close(): Promise<void>;
};

// The server of `child.ts`, in its own process and on its own store.
export async function startServerProcess(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const script = await bundle(benchServer, join(folder, 'server'));
  const child = fork(script, {
    execArgv: [...nodeFlags, ...process.execArgv.filter(flag => flag.startsWith('--cpu-prof'))],
    env: {
      ...withoutSettings(process.env),
      STAK_DATA: join(folder, 'data'),
      STAK_REQUESTS_PER_MINUTE: '1000000000', // no rate limit
      ...settings,
    },
  });
  let isClosing = false;
  child.once('exit', code => {
    if (!isClosing) throw new Error(`the server ended with ${code ?? 'a signal'}`);
  });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    pid: child.pid!,
    async cpuUs() {
      child.send('usage');
      const [{ cpuUs }] = (await once(child, 'message')) as [Usage];
      return cpuUs;
    },
    async close() {
      isClosing = true;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

// Measures the server with its defaults, without settings from the shell.
export const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('STAK_')));
