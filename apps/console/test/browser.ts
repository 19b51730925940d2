import { setTimeout as wait } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

// In a single process the browser ends with its first window; and pages shall be held back as they are elsewhere.
const unwanted = ['--single-process', '--disable-web-security', '--allow-running-insecure-content'];
const args = chromium.args.filter(arg => !unwanted.includes(arg));

const unpacked = async () => driver.launch({ executablePath: await chromium.executablePath(), args });
const installed = () => driver.launch({ channel: 'chrome' });

// The one of this machine, else the one from npm where it runs, else none.
export async function openBrowser(): Promise<Browser | undefined> {
  const found = await installed().catch(() => undefined);
  if (found || process.platform !== 'linux') return found;
  // It unpacks itself once for all processes: one that comes second may find it half written.
  for (let attempt = 1; attempt <= 5; attempt++) {
    try {
      return await unpacked();
    } catch {
      await wait(1_000);
    }
  }
  return undefined;
}
