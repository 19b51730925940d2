import { cutText } from '@stak/kit';
import { light } from '@stak/kit/identity';
import * as limits from './limits.ts';

/** The sender's name and appearance. `color` is like `#0f766e`. */
export type Brand = { name: string; color: string; url: string };

export type MailContent = {
  subject: string;
  paragraphs: readonly string[];
  action?: { label: string; url: string }; // the button
  note?: string; // after it: how long the link works, what to do if the mail was not requested
  reason: string; // why the mail came
  unsubscribeUrl?: string; // for mail that can be switched off
};

export type RenderedMail = { subject: string; text: string; html: string; unsubscribeUrl?: string };

/**
 * Renders the same content as plain text and as HTML. Everything in it is escaped: names and addresses may be hostile.
 *
 * @example
 * renderMail(brand, {
 *   subject: 'Reset your password',
 *   paragraphs: ['Hello Ann,', 'Choose a new password with this link.'],
 *   action: { label: 'Choose a password', url: 'https://stak.example/console/reset-password#token=…' },
 *   reason: 'Someone asked for this at https://stak.example.',
 * });
 */
export function renderMail(brand: Brand, content: MailContent): RenderedMail {
  const { unsubscribeUrl } = content;
  return {
    subject: cutText(oneLine(content.subject), limits.subjectChars),
    text: textOf(brand, content),
    html: htmlOf(brand, content),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  };
}

function textOf({ name, url }: Brand, content: MailContent): string {
  const { paragraphs, action, note, reason, unsubscribeUrl } = content;
  return [
    ...paragraphs.map(oneLine),
    // On a separate line, so that mail programs do not take a full stop for a part of it.
    ...(action ? [`${oneLine(action.label)}:\n${action.url}`] : []),
    ...(note === undefined ? [] : [oneLine(note)]),
    `-- \n${oneLine(reason)}`,
    ...(unsubscribeUrl === undefined ? [] : [`To stop these mails: ${unsubscribeUrl}`]),
    `${oneLine(name)}: ${url}`,
  ].join('\n\n');
}

function htmlOf({ name, url, color }: Brand, content: MailContent): string {
  const { paragraphs, action, note, reason, unsubscribeUrl } = content;
  const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(oneLine(text))}</p>`;
  const button = action
    ? `<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:${color};color:${textOn(color)};text-decoration:none;font-weight:600">${escapeHtml(oneLine(action.label))}</a></p>
<p style="margin:0 0 16px;color:${light['soft-text']};font-size:13px">If the button does not work, open this address:<br><a href="${escapeHtml(action.url)}" style="color:${light['soft-text']};word-break:break-all">${escapeHtml(action.url)}</a></p>`
    : '';
  const footer = [
    escapeHtml(oneLine(reason)),
    ...(unsubscribeUrl === undefined
      ? []
      : [`<a href="${escapeHtml(unsubscribeUrl)}" style="color:${light['soft-text']}">Stop these mails</a>`]),
    `<a href="${escapeHtml(url)}" style="color:${light['soft-text']}">${escapeHtml(oneLine(name))}</a>`,
  ].join('<br>');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(oneLine(content.subject))}</title></head>
<body style="margin:0;padding:24px;background:${light.ground};font:16px/1.5 system-ui,sans-serif;color:${light.text}">
<div style="max-width:520px;margin:0 auto;padding:32px;background:${light.surface};border-top:4px solid ${color};border-radius:8px">
<p style="margin:0 0 24px;font-weight:700">${escapeHtml(oneLine(name))}</p>
${paragraphs.map(paragraph).join('\n')}
${button}
${note === undefined ? '' : paragraph(note)}
<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid ${light.line};color:${light['soft-text']};font-size:13px">${footer}</p>
</div>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, character => entities[character]!);

// A name must not start a new line, where it could pretend to be a part of the mail.
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

// Black or white, depending on which is readable on the colour (relative luminance of WCAG).
function textOn(color: string): string {
  const [r, g, b] = [1, 3, 5].map(at => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}
