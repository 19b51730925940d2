import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from '../bench.ts';
import type { Verdict } from '../gates.ts';
import { createCustomer } from '../server/customer.ts';
import { startServerProcess } from '../server/process.ts';
import { measureServer } from '../server/rounds.ts';
import { operationsFor, requestNames } from './requests.ts';

const dataFolder = fileURLToPath(new URL('../../data', import.meta.url));
export async function run(options: BenchOptions): Promise<Verdict[]> {
  mkdirSync(dataFolder, { recursive: true });
  const folder = mkdtempSync(join(dataFolder, 'http-'));
  try {
    const server = await startServerProcess(folder);
    try {
      const customer = await createCustomer(server.url, { apiKeys: 32, sessions: 8, endUsers: 32 });
      const measures = await measureServer({ server, operations: operationsFor(customer), names: requestNames.filter(n => options.only.length === 0 || options.only.includes(n.replace(', ', '-'))), inFlight: 32, plan: { rounds: 7, roundMs: 400, warmUpMs: 800 } });
      for (const [name, m] of Object.entries(measures)) console.log(name.padEnd(20), Math.round(m.opsPerSecond), (m.opsPerSecond / (measures.constant ?? m).opsPerSecond).toFixed(2), m.cpuUs.toFixed(1), ((measures.constant ?? m).cpuUs / m.cpuUs).toFixed(2), m.p99Ms.toFixed(2));
    } finally {
      await server.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}
