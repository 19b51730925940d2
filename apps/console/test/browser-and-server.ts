import { afterAll, beforeAll } from 'vitest';
import { openBrowser } from './browser.ts';
import { openTestServer } from './test-server.ts';

// A browser, and a server that runs as long as the tests of the file do. Without a browser there is no server.
export async function openBrowserAnd<Server extends { close(): Promise<void> }>(open: () => Promise<Server>) {
  const browser = await openBrowser();
  const server = {} as Server;
  let opened: Server | undefined;
  beforeAll(async () => {
    opened = browser && (await open());
    Object.assign(server, opened);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await opened?.close();
  });
  return { browser, server };
}

export const openBrowserAndServer = () => openBrowserAnd(() => openTestServer());
