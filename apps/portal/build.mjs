import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

// Made as the console's pages are: node build.mjs [FOLDER]
const here = import.meta.dirname;
const [outDir = join(here, 'dist')] = process.argv.slice(2);
execFileSync(process.execPath, [join(here, '../console/build.mjs'), outDir, here], { stdio: 'inherit' });
