import { createRequire } from 'node:module';
import type { Settings } from '../settings.ts';
import { startOverHttp } from './over-http.ts';

export const start = (settings: Settings) =>
  startOverHttp(settings, port => ({
    command: process.execPath,
    args: [
      createRequire(import.meta.url).resolve('dynalite/cli.js'),
      ...['--host', '127.0.0.1', '--port', String(port), '--path', settings.folder, '--createTableMs', '0'],
    ],
  }));
