import { cutText } from '@stak/kit';
import type { Brand, MailContent } from '@stak/mail';
import * as limits from './limits.ts';

export const mailKinds = [
  'sign_up.requested', // the address may have an account: the worker checks
  'sign_up.finish',
  'sign_up.taken',
  'password.reset_requested', // the address may have no account: the worker checks
  'password.reset',
  'password.changed',
  'email.verify',
  'email.confirm_new',
  'email.confirm_old',
  'email.unavailable',
  'email.changed',
  'session.new_device',
  'factor.changed',
  'organisation.invited',
  'tenant.sign_in_requested', // the address may be unknown: the worker checks
  'tenant.sign_in',
  'tenant.invited',
  'notice.due', // for the members of an account: the worker looks them up
  'deliveries.failing',
  'limit.reached',
  'payment.failed',
] as const;
export type MailKind = (typeof mailKinds)[number];

// Not mails yet: the worker resolves them to mails, or to nothing.
const requests = [
  'sign_up.requested',
  'password.reset_requested',
  'tenant.sign_in_requested',
  'notice.due',
] as const;
type RequestKind = (typeof requests)[number];
export const isRequest = (kind: MailKind): boolean => requests.some(one => one === kind);

// Mails greet people by name only if they have verified their address. Otherwise a stranger could sign up with somebody
// else's address and have us send them any text as a name.
export const greeted = ({ name, emailVerified }: { name: string; emailVerified?: boolean }) =>
  emailVerified ? { name } : undefined;

// Values that people choose and others read in mails from us.
const chosen: ReadonlySet<string> = new Set(['name', 'inviter', 'organisation', 'tenant', 'device', 'what']);

// Short, and without anything that a mail program would turn into a link, so that a name cannot carry advertisements. A
// space after a dot, a colon or an @ prevents that and stays readable.
const plainText = (text: string): string =>
  cutText(
    text.replaceAll(/\p{Cf}/gu, '').replaceAll(/([.:@\u3002\uff0e\uff61])(?=\S)/gu, '$1 '),
    limits.chosenChars,
  );

const plainDetails = (details: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(details).map(([name, text]) => [name, chosen.has(name) ? plainText(text) : text]),
  );

type Filled = { brand: Brand; details: Readonly<Record<string, string>>; token: string };

const linkTo = ({ brand, token }: Filled, page: string): string =>
  // In the fragment, which browsers do not send: the token appears neither in proxy logs nor in a Referer.
  `${brand.url}/console/${page}${token === '' ? '' : `#token=${token}`}`;
const hello = ({ details }: Filled): string => (details.name ? `Hello ${details.name},` : 'Hello,');
const asMember = ({ brand, details }: Filled): string =>
  `You get this because you are ${details.role} of ${details.organisation} at ${brand.url}.`;
const unsubscribe = ({ brand, token }: Filled): string => `${brand.url}/v1/mail/unsubscribe?token=${token}`;
// In these mails the token belongs to the unsubscribe link, not to the console's page.
const page = (filled: Filled, path: string): string => linkTo({ ...filled, token: '' }, path);
const notYou = 'If it was not you, reset your password at once and end all sessions in your account.';
const ofYours = ({ brand }: Filled): string =>
  `You get this because this address belongs to an account at ${brand.url}.`;

// The texts of all mails, in one place to keep them consistent.
const texts: Readonly<Record<Exclude<MailKind, RequestKind>, (filled: Filled) => MailContent>> = {
  'sign_up.finish': filled => ({
    subject: `Finish your sign-up for ${filled.brand.name}`,
    paragraphs: [
      'Hello,',
      'Follow the link and enter the password that you signed up with. Then your account is ready.',
    ],
    action: { label: 'Finish the sign-up', url: linkTo(filled, 'finish-sign-up') },
    note: 'The link works once, for 24 hours. If you did not sign up, ignore this mail: there will be no account.',
    reason: `You get this because someone entered this address at ${filled.brand.url}.`,
  }),
  'sign_up.taken': filled => ({
    subject: `You already have an account at ${filled.brand.name}`,
    paragraphs: [
      hello(filled),
      'Someone wanted to sign up with this address, which has an account. Nothing has changed.',
      'If it was you, sign in; if you do not know your password any more, choose a new one there.',
    ],
    action: { label: 'Sign in', url: linkTo(filled, 'sign-in') },
    reason: ofYours(filled),
  }),
  'password.reset': filled => ({
    subject: `Reset your ${filled.brand.name} password`,
    paragraphs: [
      hello(filled),
      'Choose a new password with the link below. It ends all your sessions.',
      ...(filled.details.isNew
        ? [
            'This address was never verified, so somebody else may have created the account. With the new password you get a new, empty account: the old one and everything in it are deleted. If you can still sign in, verify your address there first to keep it.',
          ]
        : []),
    ],
    action: { label: 'Choose a new password', url: linkTo(filled, 'reset-password') },
    note: 'The link works once, and for an hour. If you did not ask for it, ignore this mail: nothing changes.',
    reason: `You get this because someone asked to reset the password of this address at ${filled.brand.url}.`,
  }),
  'password.changed': filled => ({
    subject: `Your ${filled.brand.name} password was changed`,
    paragraphs: [
      hello(filled),
      `Your password was changed on ${filled.details.at}.`,
      ...(filled.details.isNew
        ? ['Your address had not been verified until then, so your account is a new, empty one.']
        : []),
      notYou,
    ],
    action: { label: 'Reset the password', url: linkTo(filled, 'forgot-password') },
    reason: ofYours(filled),
  }),
  'email.verify': filled => ({
    subject: `Verify your address for ${filled.brand.name}`,
    paragraphs: ['Hello,', 'Please confirm that this is your address.'],
    action: { label: 'Verify the address', url: linkTo(filled, 'verify-email') },
    note: 'The link works for 24 hours, once you have signed in. If you made no account, ignore this mail.',
    reason: `You get this because an account was made with this address at ${filled.brand.url}.`,
  }),
  'email.confirm_new': filled => ({
    subject: `Confirm your new address for ${filled.brand.name}`,
    paragraphs: ['Hello,', 'You want to sign in with this address from now on. Please confirm it.'],
    action: { label: 'Confirm the new address', url: linkTo(filled, 'confirm-email') },
    note: 'The link works for 24 hours, while you are signed in. If you did not ask for it, ignore this mail.',
    reason: `You get this because someone entered this address as their new one at ${filled.brand.url}.`,
  }),
  'email.confirm_old': filled => ({
    subject: `Confirm the change of your address for ${filled.brand.name}`,
    paragraphs: [
      hello(filled),
      `You want to sign in with ${filled.details.email} instead of this address. Please confirm it from here, too.`,
    ],
    action: { label: 'Confirm the change', url: linkTo(filled, 'confirm-email') },
    note: `The link works for 24 hours, while you are signed in. ${notYou}`,
    reason: ofYours(filled),
  }),
  'email.unavailable': filled => ({
    subject: `You already have a ${filled.brand.name} account`,
    paragraphs: [
      'Hello,',
      'Someone wanted to move their account to this address, which already has one. Nothing has changed.',
    ],
    note: 'If it was you, sign in with this address, or delete its account first.',
    reason: ofYours(filled),
  }),
  'email.changed': filled => ({
    subject: `Your ${filled.brand.name} address was changed`,
    paragraphs: [
      hello(filled),
      `Since ${filled.details.at} you sign in with ${filled.details.email ?? 'another address'}, and no longer with this address.`,
      'If it was not you, write to those who run this server at once.',
    ],
    reason: `You get this because this address belonged to an account at ${filled.brand.url}.`,
  }),
  'session.new_device': filled => ({
    subject: `New sign-in to ${filled.brand.name}`,
    paragraphs: [
      hello(filled),
      `Someone signed in to your account with ${filled.details.device} from ${filled.details.address} on ${filled.details.at}.`,
      `If it was you, there is nothing to do. ${notYou}`,
    ],
    action: { label: 'Look at your sessions', url: linkTo(filled, 'account?tab=sessions') },
    reason: `${ofYours(filled)} It comes with the first sign-in from a device or a network.`,
  }),
  'factor.changed': filled => ({
    subject: `Sign-in to ${filled.brand.name} was changed`,
    paragraphs: [hello(filled), `${filled.details.what} on ${filled.details.at}.`, notYou],
    action: { label: 'Look at your security', url: linkTo(filled, 'account?tab=security') },
    reason: ofYours(filled),
  }),
  'organisation.invited': filled => {
    const { inviter = 'Someone', organisation = 'an organisation', role } = filled.details;
    return {
      subject: `Join ${organisation} on ${filled.brand.name}`,
      paragraphs: [
        'Hello,',
        `${inviter} invites you to ${organisation}, with the role ${role}.`,
        'Follow the link and sign in with this address, or make an account with it.',
      ],
      action: { label: 'Accept the invitation', url: linkTo(filled, 'join') },
      note: 'The link works once, for a week. If you do not know who sent it, ignore this mail: nothing happens.',
      reason: `You get this because ${filled.details.inviter ?? 'someone'} entered this address at ${filled.brand.url}.`,
    };
  },
  'tenant.sign_in': filled => {
    const [token = '', code = ''] = filled.token.split(' ');
    const { tenant = filled.brand.name } = filled.details;
    return {
      subject: `Your code for ${tenant}: ${spaced(code)}`,
      paragraphs: [hello(filled), `Your code is ${spaced(code)}. Enter it where you asked for it.`],
      action: { label: `Sign in to ${tenant}`, url: portalLink(filled, 'sign-in', token) },
      note: 'Code and link work once, for 15 minutes. Nobody will ask you for the code. If you did not ask for it, ignore this mail: nothing happens.',
      reason: `You get this because someone entered this address to sign in to ${tenant}.`,
    };
  },
  'tenant.invited': filled => {
    const { tenant = filled.brand.name } = filled.details;
    return {
      subject: `Join ${tenant}`,
      paragraphs: ['Hello,', `You are invited to ${tenant}.`],
      action: { label: 'Accept the invitation', url: portalLink(filled, 'invitation', filled.token) },
      note: 'The link works once. If you do not know who sent it, ignore this mail: nothing happens.',
      reason: `You get this because someone of ${tenant} entered this address.`,
    };
  },
  'deliveries.failing': filled => {
    const { more, organisation, ...details } = filled.details;
    const lines = Object.keys(details).filter(name => /^line\d+$/.test(name));
    return {
      subject: `Webhooks of ${organisation} are not delivered`,
      paragraphs: [
        hello(filled),
        `These connections of ${organisation} have failed:`,
        ...lines.map(name => `• ${details[name]}`),
        ...(more === '0' ? [] : [`And ${more} more.`]),
      ],
      action: { label: 'Look at the connections', url: page(filled, 'webhooks/connections') },
      note: 'Failed deliveries can be replayed there. There is at most one of these mails an hour.',
      reason: asMember(filled),
      unsubscribeUrl: unsubscribe(filled),
    };
  },
  'limit.reached': filled => ({
    subject: `${filled.details.organisation}: ${filled.details.title}`,
    paragraphs: [hello(filled), `${filled.details.body}`],
    action: { label: 'Look at the plan', url: page(filled, 'account?tab=billing') },
    reason: `${asMember(filled)} It comes once a month for each limit, at 80 % and at 100 %.`,
    unsubscribeUrl: unsubscribe(filled),
  }),
  'payment.failed': filled => ({
    subject: `A payment for ${filled.brand.name} failed`,
    paragraphs: [
      hello(filled),
      `The payment for ${filled.details.organisation} (plan ${filled.details.plan}) could not be collected. Please check the card.`,
      'Stripe tries again in the next days. If that fails, too, the subscription ends.',
    ],
    action: { label: 'Look at the billing', url: page(filled, 'account?tab=billing') },
    reason: asMember(filled),
  }),
};

const spaced = (code: string): string => `${code.slice(0, 4)} ${code.slice(4)}`;
const portalLink = ({ brand, details }: Filled, what: string, token: string): string =>
  `${brand.url}/portal/${details.tenant_id}#${what}=${token}`;

export function contentOf(kind: MailKind, filled: Filled): MailContent {
  if (isRequest(kind)) throw new TypeError('A request for a mail cannot be rendered as a mail');
  return texts[kind as Exclude<MailKind, RequestKind>]({ ...filled, details: plainDetails(filled.details) });
}

// A tenant's users know the tenant, not the server it runs on.
export const brandOf = (brand: Brand, { tenant, color }: Readonly<Record<string, string>>): Brand =>
  tenant === undefined ? brand : { ...brand, name: plainText(tenant), color: color || brand.color };
