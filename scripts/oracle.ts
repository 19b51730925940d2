// Runs the oracle of a service: random histories, checked step by step against plain lists.
//   npm run oracle -- inbox [--histories 300] [--length 30] [--engine embedded|sdk|URL] [--seed N]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [service = '', ...options] = process.argv.slice(2);
const program = `services/${service}/test/oracle/main.ts`;

if (!/^[a-z]+$/.test(service) || !existsSync(`${root}${program}`)) {
  console.error(`There is no oracle of "${service}". Try: npm run oracle -- inbox`);
  process.exitCode = 2;
} else {
  const command = ['--import', 'tsx', program, ...options];
  const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}
