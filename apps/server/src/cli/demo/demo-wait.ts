import type { Demo } from '../../http/demo-file.ts';

const startWaits = 20; // half-seconds until a server that has just started begins to create the workspace
const fillWaits = 240; // and until a busy machine has created it

// A server that has just started is still creating the demo workspace.
export async function waitForDemo(
  read: () => Promise<Demo | undefined>,
  pause: () => Promise<unknown>,
): Promise<Demo | 'absent' | 'unfinished'> {
  let demo = await read();
  for (let waits = 0; !demo?.isFilled && waits < (demo ? fillWaits : startWaits); waits++) {
    if (waits === 0) console.error('Waiting for the demo workspace…');
    await pause();
    demo = await read();
  }
  return demo?.isFilled ? demo : demo ? 'unfinished' : 'absent';
}
