import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMailer, type Mailer, renderMail } from '../src/index.ts';
import { certificate, key } from './certificate.ts';
import { decoded, headersOf, openSmtp } from './smtp-stub.ts';

const brand = { name: 'Stak', color: '#0f766e', url: 'https://stak.example' };
const link = `https://stak.example/console/reset-password#token=${'a'.repeat(60)}`;
const content = {
  subject: 'Reset your password',
  paragraphs: ['Hello Ann,', 'Choose a new password.'],
  action: { label: 'Choose a password', url: link },
  note: 'The link works for an hour.',
  reason: 'Someone asked for this.',
};
const from = 'Stak <stak@example.com>';
const mailTo = (to: string, change: Partial<typeof content> = {}) => ({
  id: 'mal_1',
  to,
  ...renderMail(brand, { ...content, ...change }),
});

function open(settings: Parameters<typeof createMailer>[0]): Mailer {
  const mailer = createMailer(settings);
  onTestFinished(() => mailer.close());
  return mailer;
}

describe('mail over SMTP', () => {
  it('arrives as text and HTML, with the same id each time it is sent', async () => {
    const { received, port } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const mailer = open({ url: `smtp://127.0.0.1:${port}`, from });
    for (let i = 0; i < 2; i++)
      expect(await mailer.send(mailTo('ann@example.com'))).toEqual({ status: 'sent' });
    expect(received.map(({ from, to }) => [from, to])).toEqual([
      ['stak@example.com', ['ann@example.com']],
      ['stak@example.com', ['ann@example.com']],
    ]);
    for (const { raw } of received) {
      const headers = headersOf(raw);
      expect(headers).toContain('Message-ID: <mal_1@example.com>');
      expect(headers).toContain('Auto-Submitted: auto-generated');
      expect(headers).toContain('Subject: Reset your password');
      expect(headers.some(line => line.startsWith('List-Unsubscribe'))).toBe(false);
      expect(raw).toContain('text/plain');
      expect(raw).toContain('text/html');
      expect(decoded(raw)).toContain(`\r\n${link}\r\n`); // on a line of its own
    }
  });

  it('says how to unsubscribe from optional mail', async () => {
    const { received, port } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const unsubscribeUrl = 'https://stak.example/console/account';
    await open({ url: `smtp://127.0.0.1:${port}`, from }).send({
      ...mailTo('ann@example.com'),
      ...renderMail(brand, { ...content, unsubscribeUrl }),
    });
    expect(headersOf(received[0]!.raw)).toContain(`List-Unsubscribe: <${unsubscribeUrl}>`);
    expect(decoded(received[0]!.raw)).toContain(`To stop these mails: ${unsubscribeUrl}`);
  });

  it('distinguishes a permanent refusal from a full mailbox', async () => {
    const { port } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const mailer = open({ url: `smtp://127.0.0.1:${port}`, from });
    expect(await mailer.send(mailTo('nobody@example.com'))).toMatchObject({
      status: 'refused',
      detail: expect.stringContaining('No such user here'),
    });
    await expect(mailer.send(mailTo('later@example.com'))).rejects.toThrow('Mailbox full');
  });

  it('fails while the server is down, and works when it is back', async () => {
    const first = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const mailer = open({ url: `smtp://127.0.0.1:${first.port}`, from });
    await first.close();
    await expect(mailer.send(mailTo('ann@example.com'))).rejects.toThrow('ECONNREFUSED');
    const { received } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] }, first.port);
    expect(await mailer.send(mailTo('ann@example.com'))).toEqual({ status: 'sent' });
    expect(received).toHaveLength(1);
  });

  it('is encrypted with STARTTLS, after verifying the server', async () => {
    const { received, port } = await openSmtp({ key, cert: certificate, disabledCommands: ['AUTH'] });
    const url = `smtp://localhost:${port}?requireTLS=true`;
    expect(await open({ url, from, ca: certificate }).send(mailTo('ann@example.com'))).toEqual({
      status: 'sent',
    });
    expect(received[0]?.isSecure).toBe(true);
    await expect(open({ url, from }).send(mailTo('ann@example.com'))).rejects.toThrow(/certificate/);
    expect(received).toHaveLength(1);
  });

  it('is not sent unencrypted if encryption is required', async () => {
    const { received, port } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const url = `smtp://127.0.0.1:${port}?requireTLS=true`;
    await expect(open({ url, from }).send(mailTo('ann@example.com'))).rejects.toThrow(/TLS/);
    expect(received).toEqual([]);
  });

  it('signs in, and waits for another password if its own is refused', async () => {
    const { received, port } = await openSmtp({
      key,
      cert: certificate,
      authOptional: false,
      onAuth: ({ username, password }, _session, done) =>
        username === 'stak' && password === 'p@ss'
          ? done(null, { user: 'stak' })
          : done(Object.assign(new Error('Invalid login'), { responseCode: 535 })),
    });
    const send = (login: string) =>
      open({ url: `smtp://${login}@localhost:${port}`, from, ca: certificate }).send(
        mailTo('ann@example.com'),
      );
    await expect(send('stak:wrong')).rejects.toThrow('Invalid login');
    expect(await send('stak:p%40ss')).toEqual({ status: 'sent' });
    expect(received).toHaveLength(1);
  });
});

describe('hostile text', () => {
  const hostile = [
    'Ann\r\nBcc: eve@evil.example',
    'Ann\nSubject: You won',
    'Ann\r\n\r\n<script>alert(1)</script>',
    'Ann\u2028Bcc: eve@evil.example',
    '"><img src=x onerror=alert(1)>',
    '=?utf-8?q?=0d=0aBcc:_eve@evil.example?=',
    '\u202eevil',
  ];

  it('adds no header, no recipient and no markup', async () => {
    const { received, port } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const mailer = open({ url: `smtp://127.0.0.1:${port}`, from });
    for (const name of hostile) {
      const change = { subject: `Hello ${name}`, paragraphs: [`Hello ${name},`], reason: name };
      expect(await mailer.send(mailTo('ann@example.com', change))).toEqual({ status: 'sent' });
    }
    for (const { to, raw } of received) {
      expect(to).toEqual(['ann@example.com']);
      const names = headersOf(raw).map(line => line.split(':', 1)[0]!.toLowerCase());
      expect(names.filter(one => ['bcc', 'cc'].includes(one))).toEqual([]);
      expect(names.filter(one => one === 'subject' || one === 'to')).toHaveLength(2);
    }
    for (const name of hostile) {
      const { html, text } = renderMail(brand, { ...content, paragraphs: [name] });
      expect(html).not.toMatch(/<script|<img/);
      expect(text.split('\n')).not.toContain('Bcc: eve@evil.example');
    }
  });

  it('is not an address', async () => {
    const { received, port } = await openSmtp({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const mailer = open({ url: `smtp://127.0.0.1:${port}`, from });
    for (const to of [
      'ann@example.com\r\nRCPT TO:<eve@evil.example>',
      'ann@example.com, eve@evil.example',
      'Ann <ann@example.com>',
      'ann@example.com>\r\nDATA',
      'ann',
      '',
    ])
      expect(await mailer.send(mailTo(to))).toMatchObject({ status: 'refused' });
    expect(received).toEqual([]);
  });

  it('stays text in every template', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), text => {
        const mail = renderMail(brand, { ...content, subject: text, paragraphs: [text], note: text });
        expect(mail.subject).not.toMatch(/[\r\n\u2028\u2029]/);
        const plain = renderMail(brand, { ...content, subject: '', paragraphs: [''], note: '' });
        expect(mail.text.split('\n')).toHaveLength(plain.text.split('\n').length);
        expect(mail.html.match(/<[a-z]/g)).toEqual(plain.html.match(/<[a-z]/g));
      }),
    );
  });
});

it('chooses a text colour that is readable on the brand’s colour', () => {
  const on = (color: string) => renderMail({ ...brand, color }, content).html;
  expect(on('#0f766e')).toContain('color:#ffffff;text-decoration');
  expect(on('#fde047')).toContain('color:#000000;text-decoration');
});

it('writes whole mails to a folder, for its owner only, and keeps the last ones', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'stak-mail-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, 'mail box');
  const mailer = open({ url: pathToFileURL(folder).href, from });
  expect(await mailer.send(mailTo('ann@example.com'))).toEqual({ status: 'sent' });
  const [name] = await readdir(folder);
  expect(name).toMatch(/^\d{4}-.*-mal_1\.eml$/);
  const raw = await readFile(join(folder, name!), 'utf8');
  expect(headersOf(raw)).toContain('To: ann@example.com');
  expect(decoded(raw)).toContain(link);
  expect((await stat(join(folder, name!))).mode & 0o077).toBe(0);
  for (let i = 0; i < 205; i++) await mailer.send({ ...mailTo('ann@example.com'), id: `mal_${i}` });
  expect(await readdir(folder)).toHaveLength(200);
});
