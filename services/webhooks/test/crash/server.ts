import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export type CrashServer = { url: string; kill(): Promise<void> };

const script = new URL('./server-process.ts', import.meta.url);

export async function startServer(path: string, secret: string): Promise<CrashServer> {
  const child: ChildProcess = fork(script, [path, secret], { execArgv: ['--import', 'tsx'] });
  const gone = once(child, 'exit');
  const [message] = await Promise.race([
    once(child, 'message'),
    gone.then(([code]) => {
      throw new Error(`The server ended with ${code} before it began`);
    }),
  ]);
  return {
    url: `http://127.0.0.1:${(message as { port: number }).port}`,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

// What the server says, or undefined if it died before it could.
export async function ask(
  { url }: CrashServer,
  path: string,
  init: { method?: string; send?: unknown; body?: string } = {},
): Promise<{ status: number; json: Record<string, unknown> } | undefined> {
  try {
    const response = await fetch(`${url}${path}`, {
      method: init.method ?? (init.send || init.body ? 'POST' : 'GET'),
      headers: {
        Authorization: 'Bearer any',
        ...(init.send !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: init.send === undefined ? init.body : JSON.stringify(init.send),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
