import { execFileSync } from 'node:child_process';
import { createWriteStream, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStore } from './cluster.ts';
import { judge } from './promises.ts';
import { runCampaign } from './servers-under-load.ts';

// Three servers behind a proxy, on a store that speaks DynamoDB's protocol: without an endpoint, on the engine over
// HTTP. What the servers print goes to a file, whose name is printed.

const { values } = parseArgs({
  options: {
    name: { type: 'string', default: 'engine' },
    endpoint: { type: 'string' },
    minutes: { type: 'string', default: '0' },
    kills: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const { name, endpoint } = values;
const [forMs, leastKills, seed] = [
  Number(values.minutes) * 60_000,
  Number(values.kills),
  Number(values.seed),
];

// In a folder of its own: others are built anew by tests. Within the project, where the packages are found.
const app = join(import.meta.dirname, '../..');
const built = join(app, `../.nodes-${process.pid}`);
const command = join(built, 'dist/main.mjs');
process.on('exit', () => rmSync(built, { recursive: true, force: true }));
execFileSync(process.execPath, [join(app, 'build.mjs'), join(app, 'src/main.ts'), join(built, 'dist')]);

if (endpoint !== undefined) await run(endpoint);
else {
  const store = await startStore(command);
  await run(store.endpoint).finally(store.stop);
}

async function run(address: string): Promise<void> {
  const file = join(tmpdir(), `stak-nodes-${process.pid}.log`);
  const note = (line: string) => console.log(`${name}: ${line}`);
  note(`seed ${seed}; what the servers print is in ${file}`);
  const log = createWriteStream(file);
  const campaign = { command, endpoint: address, forMs, leastKills, seed, note, log };
  const found = await runCampaign(campaign).finally(() => log.end());
  note(
    `${found.kills.length} kills; listeners heard after ${found.heardMs.p50} ms (p95 ${found.heardMs.p95})`,
  );
  const { broken, unjudged } = judge(found);
  for (const one of broken.slice(0, 20)) console.error(`${name}: ${one}`);
  for (const one of unjudged.slice(0, 20))
    note(`not judged, too few events or the host took the processors away: ${one}`);
  const said = unjudged.length > 0 ? `, ${unjudged.length} could not be judged` : '';
  note(
    broken.length === 0
      ? `every promise held${said}`
      : `${broken.length} promises were broken${said}; the host took ${Math.round(found.stolen * 100)} %`,
  );
  if (broken.length > 0) process.exitCode = 1;
}
