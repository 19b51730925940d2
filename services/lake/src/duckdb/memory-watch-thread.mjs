// Ends processes that use more memory than they may. A separate thread, in plain JavaScript, so that it runs while the
// server's thread is busy, and while the watched processes are.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { watchMs } = workerData;
const limits = new Map();

const isLinux = process.platform === 'linux';

// Undefined when it is gone.
function residentBytes(pid) {
  try {
    const kilobytes = isLinux
      ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'latin1' });
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

// If the machine runs out of memory first, the kernel should kill this process and not the server.
function offerToKernel(pid) {
  try {
    if (isLinux) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Not allowed everywhere.
  }
}

function look() {
  for (const [pid, rssBytes] of limits) {
    const bytes = residentBytes(pid);
    if (bytes === undefined) limits.delete(pid);
    else if (bytes > rssBytes) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended in the meantime.
      }
      limits.delete(pid);
    }
  }
}

const everyMs = isLinux ? watchMs : watchMs * 10; // calling `ps` starts a process
let timer;

// Looks only while a process works.
parentPort.on('message', ({ pid, rssBytes }) => {
  if (rssBytes === undefined) limits.delete(pid);
  else {
    limits.set(pid, rssBytes);
    offerToKernel(pid);
  }
  if (limits.size > 0) timer ??= setInterval(look, everyMs);
  else {
    clearInterval(timer);
    timer = undefined;
  }
});
