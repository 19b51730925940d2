import { afterAll, beforeAll } from 'vitest';
import { openBrowser } from './browser.ts';
import { openTestServer, type TestServer } from './test-server.ts';

// A browser, and a server that runs as long as the tests of the file do. Where there is no browser there is no server.
export async function openBrowserAndServer() {
  const browser = await openBrowser();
  const server = {} as TestServer;
  let opened: TestServer | undefined;
  beforeAll(async () => {
    opened = browser && (await openTestServer());
    Object.assign(server, opened);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await opened?.close();
  });
  return { browser, server };
}
