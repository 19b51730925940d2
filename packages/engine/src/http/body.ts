import type { IncomingMessage } from 'node:http';

export type Body = Buffer | 'aborted' | 'too-large';

// A client that gets "too large" while it still writes usually sees a broken pipe instead of the response, so data over
// the limit is read and dropped, up to this many times the limit.
const drainedLimits = 4;

const empty = Buffer.alloc(0);

export function readBody(request: IncomingMessage, limitBytes: number): Promise<Body> {
  return new Promise(resolve => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (bytes > limitBytes * drainedLimits) resolve('too-large');
    });
    request.on('end', () => {
      if (bytes > limitBytes) resolve('too-large');
      else if (chunks.length === 1) resolve(chunks[0]!);
      else resolve(chunks.length === 0 ? empty : Buffer.concat(chunks, bytes));
    });
    // Both follow `end` on a healthy request, and come alone when the client has disconnected.
    request.on('error', () => resolve('aborted'));
    request.on('close', () => resolve('aborted'));
  });
}
