#!/usr/bin/env node
import './node-version.mjs';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The bundle of `npm start`, if it is younger than everything it is made from: it answers many times sooner than the
// sources, which are compiled as they are loaded.

const here = path => fileURLToPath(new URL(path, import.meta.url));
const rooms = ['../../../packages', '../../../services'].flatMap(wing =>
  readdirSync(here(wing)).map(name => here(`${wing}/${name}/src`)),
);
const sources = [...rooms, here('../src'), here('../build.mjs'), here('../../../package-lock.json')];

const builtMs = statSync(here('../dist/main.mjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function isOlder(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return true;
  if (!found.isDirectory()) return found.mtimeMs < builtMs;
  return readdirSync(path, { recursive: true }).every(name => statSync(`${path}/${name}`).mtimeMs < builtMs);
}

if (builtMs > 0 && sources.every(isOlder)) await import('../dist/main.mjs');
else {
  const { register } = await import('tsx/esm/api');
  register();
  await import('../src/main.ts');
}
