import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { crc32 } from 'node:zlib';
import { DynamoError } from '../errors.ts';
import { toWireError } from './errors.ts';
import { json10 } from './protocol.ts';
import { nextRequestId } from './request-id.ts';

const refusals = new Map([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    new DynamoError('RequestTimeoutException', 'The request took too long to arrive', {}, 408),
  ],
  ['HPE_HEADER_OVERFLOW', new DynamoError('SerializationException', 'The headers are too large', {}, 431)],
]);
const unreadable = new DynamoError('SerializationException', 'The request is not well-formed HTTP');

// Time for the client to read the error before the socket is closed.
const lingerMs = 1_000;

// A request that Node's parser cannot read has no request object, so the response is written to the socket.
export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The parser reports every further chunk of a refused client again.
  if (socket.writableEnded) return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const wire = toWireError(refusals.get(error.code ?? '') ?? unreadable);
  const body = JSON.stringify(wire.body);
  socket.end(
    `HTTP/1.1 ${wire.status} ${STATUS_CODES[wire.status]}\r\nx-amzn-RequestId: ${nextRequestId()}\r\n` +
      `x-amz-crc32: ${crc32(body)}\r\nContent-Type: ${json10}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
