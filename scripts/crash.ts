// Kills processes with SIGKILL, many times, and looks at what is left.
//   npm run test:crash [-- engine | webhooks | agents | backup] [--workers N] [--rounds N] [--seed N]
// The engine: N processes that write to one store. Webhooks and agents: `stak start` with N workers, of which now one
// is killed, now the supervisor, now all. The backup: N processes write and ship; all are killed, their folder is deleted.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const server = 'apps/server/test/crash/campaign.ts';
const [name = 'engine', ...options] = process.argv[2]?.startsWith('-')
  ? ['engine', ...process.argv.slice(2)]
  : process.argv.slice(2);
const campaigns: Record<string, readonly string[]> = {
  engine: ['packages/engine/test/crash/campaign.ts'],
  webhooks: [server, 'webhooks'],
  agents: [server, 'agents'],
  backup: ['apps/server/test/backup/campaign.ts'],
};

const campaign = campaigns[name];
if (!campaign) {
  console.error(`There are crash tests of ${Object.keys(campaigns).join(', ')}, not of ${name}`);
  process.exit(1);
}
const [script = '', ...which] = campaign;
const { status } = spawnSync(
  process.execPath,
  ['--import', 'tsx', join(import.meta.dirname, '..', script), ...which, ...options],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
