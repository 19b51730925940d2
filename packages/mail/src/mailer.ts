import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cutText } from '@stak/kit';
import type { Transporter } from 'nodemailer';
import * as limits from './limits.ts';
import type { RenderedMail } from './template.ts';

/** `id` is the same for all attempts: mail programs show a mail that arrives twice once. */
export type Mail = RenderedMail & { id: string; to: string };

// `refused` is permanent: a retry would be refused again. Temporary failures are thrown.
export type MailOutcome = { status: 'sent' } | { status: 'refused'; detail: string };

export type Mailer = { send(mail: Mail): Promise<MailOutcome>; close(): Promise<void> };

export type MailerSettings = {
  url: string; // smtp://user:password@host:587, smtps://…, or file:///folder
  from: string; // an address, or `Name <address>`
  ca?: string; // PEM of the certificate authority, if the system does not know it
};

const addressShape = /^[^\p{Cc}\s<>()[\]\\,;:"@]+@[^\p{Cc}\s<>()[\]\\,;:"@]+$/u;

/**
 * Sends over SMTP, or writes `.eml` files to a folder. Nothing is loaded or opened before the first mail.
 *
 * @example
 * const mailer = createMailer({ url: 'smtp://127.0.0.1:2525', from: 'Stak <stak@example.com>' });
 * await mailer.send({ id: 'mal_1', to: 'ann@example.com', ...renderMail(brand, content) });
 */
export function createMailer(settings: MailerSettings): Mailer {
  const folder = settings.url.startsWith('file:') ? fileURLToPath(settings.url) : undefined;
  let opened: Promise<Transporter> | undefined;
  const open = () => {
    opened ??= openTransport(settings, folder);
    return opened;
  };

  return {
    async send(mail) {
      if (!addressShape.test(mail.to)) return { status: 'refused', detail: 'This is not an e-mail address.' };
      const transport = await open();
      try {
        const sent = await transport.sendMail(messageOf(mail, settings.from));
        if (folder !== undefined) await writeMail(folder, mail.id, (sent as { message: Buffer }).message);
        return { status: 'sent' };
      } catch (error) {
        const detail = refusalOf(error);
        if (detail === undefined) throw error;
        return { status: 'refused', detail };
      }
    },
    async close() {
      (await opened)?.close();
    },
  };
}

// An idle server never loads nodemailer.
async function openTransport({ url, ca }: MailerSettings, folder: string | undefined): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  if (folder !== undefined)
    return createTransport({ streamTransport: true, buffer: true, newline: 'windows' }) as Transporter;
  return createTransport({
    url: withTls(url),
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.connectMs,
    socketTimeout: limits.idleMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(ca !== undefined && { tls: { ca } }),
  }) as Transporter;
}

// A link to reset a password must not be sent unencrypted, unless the operator's URL says so.
function withTls(text: string): string {
  const url = new URL(text);
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (!isHere && !url.searchParams.has('requireTLS') && !url.searchParams.has('ignoreTLS'))
    url.searchParams.set('requireTLS', 'true');
  return url.href;
}

function messageOf({ id, to, subject, text, html, unsubscribeUrl }: Mail, from: string) {
  const address = /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
  return {
    from,
    to: { name: '', address: to },
    // Set explicitly, so that the mail goes to one address, however a server interprets the headers.
    envelope: { from: address, to: [to] },
    subject,
    text,
    html,
    messageId: `<${id}@${address.split('@')[1]}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      // Mail programs show a button that sends a POST to the address (RFC 8058).
      ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    ...(unsubscribeUrl !== undefined && { list: { unsubscribe: { url: unsubscribeUrl } } }),
  };
}

// A 5xx response to this one mail. A refused password concerns all mails, and can be corrected.
function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, responseCode, response } = error as Error & {
    code?: string;
    responseCode?: number;
    response?: string;
  };
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isForGood = responseCode === undefined || responseCode >= 500;
  return isAboutMail && isForGood ? cutText(response ?? error.message, limits.detailChars) : undefined;
}

// Written to a temporary file and renamed, so that readers never see half a mail. Its name sorts by time.
async function writeMail(folder: string, id: string, message: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${id}.eml`;
  const draft = join(folder, `.${name}`);
  await writeFile(draft, message, { mode: 0o600 });
  await rename(draft, join(folder, name));
  const names = (await readdir(folder)).filter(one => one.endsWith('.eml') && !one.startsWith('.'));
  const surplus = names.toSorted().slice(0, -limits.filesKept);
  await Promise.all(surplus.map(name => rm(join(folder, name), { force: true })));
}
