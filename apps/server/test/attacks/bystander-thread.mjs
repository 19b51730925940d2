import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

// Somebody else, who asks for something small all the time. In a thread of its own, because the attackers keep theirs
// busy; plain JavaScript, because it is started without loaders.

const { port, address, everyMs } = workerData;

const ask = () =>
  new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', localAddress: address, path: '/healthz', agent: false })
      .on('response', response => {
        response.resume().on('end', resolve);
        if (response.statusCode !== 200) reject(new Error(`a bystander got ${response.statusCode}`));
      })
      .on('error', reject)
      .end();
  });

const waitedMs = [];
let isOver = false;
parentPort.once('message', () => {
  isOver = true;
});
try {
  while (!isOver) {
    const beganMs = performance.now();
    await ask();
    waitedMs.push(performance.now() - beganMs);
    await pause(everyMs);
  }
  parentPort.postMessage({ waitedMs });
} catch (error) {
  parentPort.postMessage({ waitedMs, failure: String(error) });
}
parentPort.close();
