import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

type Received = { from: string; to: string[]; raw: string; isSecure: boolean };

// A mail server of its own for a test. It refuses mail to `nobody@`, and is full for `later@`.
export async function openSmtp(options: SMTPServerOptions = {}, port = 0) {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    ...options,
    onRcptTo({ address }, _session, done) {
      const refuse = (responseCode: number, text: string) =>
        done(Object.assign(new Error(text), { responseCode }));
      if (address.startsWith('nobody@')) return refuse(550, 'No such user here');
      if (address.startsWith('later@')) return refuse(452, 'Mailbox full');
      done();
    },
    onData(stream, { envelope, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
          isSecure: secure,
        });
        done();
      });
    },
  });
  server.on('error', () => {});
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const close = () => new Promise<void>(resolve => server.close(() => resolve()));
  onTestFinished(close);
  return { received, port: (listening.address() as AddressInfo).port, close };
}

// The header lines of a mail, with those that were folded put together again.
export const headersOf = (raw: string): string[] =>
  raw
    .split('\r\n\r\n', 1)[0]!
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');

// Its text as it was before it was broken into lines that every server takes (quoted-printable, of ASCII).
export const decoded = (raw: string): string =>
  raw
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
