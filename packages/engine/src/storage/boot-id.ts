import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// Identifies this start of the machine. What a process wrote is lost without a flush only if the machine stops, so
// files written since the same start are intact. Undefined where the system does not tell.
let boot: { id: string | undefined } | undefined;

export function bootId(): string | undefined {
  boot ??= { id: findBootId() };
  return boot.id;
}

function findBootId(): string | undefined {
  try {
    if (process.platform === 'linux')
      return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined;
    if (process.platform === 'darwin')
      return (
        execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim() ||
        undefined
      );
  } catch {} // a sandbox may forbid it
  return undefined;
}
