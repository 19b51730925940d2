// What the machines say that would run it: Prometheus of its alert rules, systemd of its unit. npm run check:deploy
// A tool that is not installed is named, and its check is left out.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const deploy = join(import.meta.dirname, '../deploy');
const folder = mkdtempSync(join(tmpdir(), 'stak-deploy-'));

type Check = { what: string; program: string; version: string; args: string[]; broken: string[] };

// A tool that finds nothing wrong with anything would be no proof, so each of them also gets a file that is broken.
const rules = join(deploy, 'prometheus/alerts.yml');
const brokenRules = join(folder, 'alerts.yml');
writeFileSync(brokenRules, readFileSync(rules, 'utf8').replace(/expr: .*/, 'expr: sum('));
const unit = join(folder, 'stak.service');
copyFileSync(join(deploy, 'systemd/stak.service'), unit);
const brokenUnit = join(folder, 'broken.service');
writeFileSync(brokenUnit, readFileSync(unit, 'utf8').replace(/^ExecStart=.*/m, 'ExecStart=stak'));

const checks: Check[] = [
  {
    what: 'alert rules',
    program: 'promtool',
    version: '--version',
    args: ['check', 'rules', rules],
    broken: ['check', 'rules', brokenRules],
  },
  {
    what: 'systemd unit',
    program: 'systemd-analyze',
    version: '--version',
    args: ['verify', unit],
    broken: ['verify', brokenUnit],
  },
];

try {
  for (const { what, program, version, args, broken } of checks) {
    if (spawnSync(program, [version]).error) {
      console.log(`Skipped: ${program} is not installed, and the ${what} were not checked.`);
      continue;
    }
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    const isFound = spawnSync(program, broken).status !== 0;
    console.log(`${what}: ${status === 0 ? 'fine' : 'refused'} by ${program}`);
    if (status !== 0) console.error(`${stdout}${stderr}`);
    if (!isFound) console.error(`${program} accepts broken ${what} as well`);
    if (status !== 0 || !isFound) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
