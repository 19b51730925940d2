// Kills a process with SIGKILL, many times, and looks at what is left.
//   npm run test:crash [-- engine | webhooks] [options of the campaign]
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const campaigns: Record<string, string> = {
  engine: 'packages/engine/test/crash/campaign.ts',
  webhooks: 'services/webhooks/test/crash/campaign.ts',
};

const given = process.argv.slice(2);
const isNamed = given[0] !== undefined && !given[0].startsWith('-');
const name = isNamed ? given[0]! : 'engine';
const campaign = campaigns[name];
if (!campaign) {
  console.error(`There are crash tests of ${Object.keys(campaigns).join(' and ')}, not of ${name}`);
  process.exit(1);
}
const options = isNamed ? given.slice(1) : given;
const { status } = spawnSync(
  process.execPath,
  ['--import', 'tsx', join(import.meta.dirname, '..', campaign), ...options],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
