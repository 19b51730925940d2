import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Settings } from '../settings.ts';
import { startOverHttp } from './over-http.ts';

export function findDynoxide(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    return join(dirname(manifest), 'dynoxide');
  } catch {
    return undefined;
  }
}

export function start(settings: Settings) {
  mkdirSync(settings.folder);
  return startOverHttp(settings, port => ({
    command: findDynoxide()!,
    args: ['--port', String(port), '--db-path', join(settings.folder, 'dynoxide.db')],
  }));
}
