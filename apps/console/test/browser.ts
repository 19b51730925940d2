import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

// In a single process the browser ends with its first window; and pages shall be held back as they are elsewhere.
const unwanted = ['--single-process', '--disable-web-security', '--allow-running-insecure-content'];
const args = chromium.args.filter(arg => !unwanted.includes(arg));

// The one from npm where it runs, else the one of this machine, else none.
export async function openBrowser(): Promise<Browser | undefined> {
  const attempts = [
    async () => driver.launch({ executablePath: await chromium.executablePath(), args }),
    () => driver.launch({ channel: 'chrome' }),
  ];
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch {}
  }
  return undefined;
}
