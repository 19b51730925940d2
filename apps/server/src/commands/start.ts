import type { CAC } from 'cac';
import { readServerConfig, type ServerFlags } from '../config.ts';
import { untilStopped } from '../signals.ts';

export function registerStart(cli: CAC): void {
  cli
    .command('start', 'Run the server')
    .option('--path <folder>', 'Where data are kept (default: ./data)')
    .option('--memory', 'Keep everything in memory and forget it at the end')
    .option('--port <port>', 'Port to listen on; 0 picks a free one (default: 8787)')
    .option('--host <host>', 'Address to listen on (default: 127.0.0.1)')
    .option('--no-demo', 'Leave an empty store empty')
    .example('stak start')
    .example('stak start --memory --port 0')
    .action(start);
}

// cac says `demo: true` when nobody spoke of it, which is not the same as asking for it.
async function start(flags: ServerFlags): Promise<void> {
  const config = readServerConfig({ ...flags, demo: flags.demo === false ? false : undefined });
  // Loaded late, so that mistakes in the configuration are told at once.
  const { createLogger } = await import('@stak/kit');
  const { startServer } = await import('../server.ts');
  const { prepareDemo } = await import('../demo.ts');
  const server = await startServer(config, { log: createLogger({ level: config.logLevel }) });
  try {
    console.log(`Stak is at ${server.url}  (its API: ${server.url}/docs)`);
    if (config.demo && config.store.kind === 'embedded' && config.store.path !== ':memory:') {
      const { email, password } = await prepareDemo(server.url, config.store.path);
      console.log(`A demo workspace is ready: sign in as ${email} with the password ${password}`);
    }
    await untilStopped();
  } finally {
    await server.stop();
  }
}
