import { fileURLToPath } from 'node:url';
import type { Settings } from '../settings.ts';
import { startOverHttp } from './over-http.ts';

// As its users run it: `stak dynamodb`.
const stak = fileURLToPath(new URL('../../../../apps/server/bin/stak.mjs', import.meta.url));

export const start = (settings: Settings) =>
  startOverHttp(settings, port => ({
    command: process.execPath,
    args: [stak, 'dynamodb', '--port', String(port), '--path', settings.folder],
  }));
