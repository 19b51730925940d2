import type { Api } from '@stak/http';
import type { ServerConfig } from '../../config/config.ts';
import { mountConsole } from '../../http/console-files.ts';
import { mountPortal } from '../../http/portal-files.ts';
import type { RunningServer } from '../../process/server.ts';
import { mountBooks } from '../demo/books.ts';

type Shown = Pick<ServerConfig, 'publicUrl' | 'isProduction' | 'isPrivate' | 'demo'>;

/** What `stak start` serves beside the API: the console, the documentation, the portal and the demo. */
export function mountPages(
  api: Pick<Api, 'app' | 'mount'>,
  services: Pick<RunningServer['services'], 'portalPageOf'>,
  { publicUrl, isProduction, isPrivate, demo, demoFolder }: Shown & { demoFolder: string | undefined },
): void {
  const isHttps = publicUrl?.startsWith('https:') ?? false;
  mountConsole(api, {
    isHttps,
    environment: isProduction ? 'production' : 'development',
    // The link is for this machine; on a server that others reach, use the password.
    ...(isPrivate && demoFolder !== undefined && { demoFolder }),
  });
  mountPortal(api, { isHttps, readPage: services.portalPageOf });
  if (demo) mountBooks(api.mount);
}
