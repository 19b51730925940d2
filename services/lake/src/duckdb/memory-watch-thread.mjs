// Ends processes that hold more memory than they may. A thread of its own, plain JavaScript: whatever the process that
// started them is busy with, this goes on, and so it does while the watched ones are too busy to watch themselves.
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

// Should the machine run out of memory first, the kernel is to take this process and not the server.
function offerToKernel(pid) {
  try {
    if (isLinux) writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Not everywhere is that allowed.
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
        // It was faster.
      }
      limits.delete(pid);
    }
  }
}

parentPort.on('message', ({ pid, rssBytes }) => {
  if (rssBytes === undefined) limits.delete(pid);
  else {
    limits.set(pid, rssBytes);
    offerToKernel(pid);
  }
});
// Asking `ps` is a process of its own.
setInterval(look, isLinux ? watchMs : watchMs * 10);
