// Asks the programs that will read the files: Prometheus for its alert rules, systemd for its unit, nginx and Caddy for
// their examples. npm run check:deploy. A tool that is not installed is named, and its check is left out.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

// As in /etc/nginx/nginx.conf, with a certificate and files of its own.
function nginxConfig(name: string, change: (text: string) => string): string[] {
  const prefix = join(folder, name);
  mkdirSync(prefix);
  const [certificate, key] = ['certificate.pem', 'key.pem'].map(file => join(prefix, file)) as [
    string,
    string,
  ];
  const subject = ['-subj', '/CN=stak.example.com', '-days', '1', '-nodes'];
  spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ]);
  const site = readFileSync(join(deploy, 'nginx/stak.conf'), 'utf8')
    .replace('/etc/letsencrypt/live/stak.example.com/fullchain.pem', certificate)
    .replace('/etc/letsencrypt/live/stak.example.com/privkey.pem', key);
  writeFileSync(join(prefix, 'stak.conf'), change(site));
  const config = join(prefix, 'nginx.conf');
  const writes = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    what => `${what}_temp_path ${prefix}/${what};`,
  );
  const http = ['access_log off;', ...writes, `include ${prefix}/stak.conf;`].join(' ');
  writeFileSync(config, `pid ${prefix}/pid;\nevents {}\nhttp { ${http} }\n`);
  return ['-t', '-q', '-e', 'stderr', '-p', prefix, '-c', config];
}

const caddyfile = join(deploy, 'caddy/Caddyfile');
const brokenCaddyfile = join(folder, 'Caddyfile');
writeFileSync(brokenCaddyfile, readFileSync(caddyfile, 'utf8').replace('reverse_proxy', 'reverse_prox'));
const validate = (file: string): string[] => ['validate', '--adapter', 'caddyfile', '--config', file];

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
  {
    what: 'nginx example',
    program: 'nginx',
    version: '-v',
    args: nginxConfig('nginx', text => text),
    broken: nginxConfig('broken-nginx', text => text.replace('proxy_pass', 'proxy_pas')),
  },
  {
    what: 'Caddyfile',
    program: 'caddy',
    version: 'version',
    args: validate(caddyfile),
    broken: validate(brokenCaddyfile),
  },
];

// Programs of the system are not in everybody's PATH. What they write stays in the folder.
const env = {
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin`,
  ...{ HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  ...{ STAK_SITE: 'stak.example.com', STAK_UPSTREAM: '127.0.0.1:8787' },
};

try {
  for (const { what, program, version, args, broken } of checks) {
    if (spawnSync(program, [version], { env }).error) {
      console.log(`Skipped: ${program} is not installed, so nothing has checked: ${what}.`);
      continue;
    }
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
    const isFound = spawnSync(program, broken, { env }).status !== 0;
    console.log(`${what}: ${status === 0 ? 'fine' : 'refused'} by ${program}`);
    if (status !== 0) console.error(`${stdout}${stderr}`);
    if (!isFound) console.error(`${program} accepts broken ${what} as well`);
    if (status !== 0 || !isFound) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
