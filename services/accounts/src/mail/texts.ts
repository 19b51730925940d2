import type { Brand, MailContent } from '@stak/mail';

export const mailKinds = [
  'password.reset_requested', // for an address that may have no account: a worker looks
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
  'tenant.sign_in_requested', // for an address that may be nobody's: a worker looks
  'tenant.sign_in',
  'tenant.invited',
] as const;
export type MailKind = (typeof mailKinds)[number];

// Not mails yet: a worker finds out whether they come to one.
const requests = ['password.reset_requested', 'tenant.sign_in_requested'] as const;
type RequestKind = (typeof requests)[number];
export const isRequest = (kind: MailKind): boolean => requests.some(one => one === kind);

type Filled = { brand: Brand; details: Readonly<Record<string, string>>; token: string };

const linkTo = ({ brand, token }: Filled, page: string): string =>
  // After the `#`, which no browser sends: neither a proxy's log nor a Referer holds the token.
  `${brand.url}/console/${page}${token === '' ? '' : `#token=${token}`}`;
const hello = ({ details }: Filled): string => `Hello ${details.name ?? ''},`;
const notYou = 'If it was not you, reset your password at once and end all sessions in your account.';
const ofYours = ({ brand }: Filled): string =>
  `You get this because this address belongs to an account at ${brand.url}.`;

// What each mail says, in one place, so that they sound alike.
const texts: Readonly<Record<Exclude<MailKind, RequestKind>, (filled: Filled) => MailContent>> = {
  'password.reset': filled => ({
    subject: `Reset your ${filled.brand.name} password`,
    paragraphs: [hello(filled), 'Choose a new password with the link below. It ends all your sessions.'],
    action: { label: 'Choose a new password', url: linkTo(filled, 'reset-password') },
    note: 'The link works once, and for an hour. If you did not ask for it, ignore this mail: nothing changes.',
    reason: `You get this because someone asked to reset the password of this address at ${filled.brand.url}.`,
  }),
  'password.changed': filled => ({
    subject: `Your ${filled.brand.name} password was changed`,
    paragraphs: [hello(filled), `Your password was changed on ${filled.details.at}.`, notYou],
    action: { label: 'Reset the password', url: linkTo(filled, 'forgot-password') },
    reason: ofYours(filled),
  }),
  'email.verify': filled => ({
    subject: `Verify your address for ${filled.brand.name}`,
    paragraphs: [hello(filled), 'Please confirm that this is your address.'],
    action: { label: 'Verify the address', url: linkTo(filled, 'verify-email') },
    note: 'The link works for 24 hours, once you have signed in. If you made no account, ignore this mail.',
    reason: `You get this because an account was made with this address at ${filled.brand.url}.`,
  }),
  'email.confirm_new': filled => ({
    subject: `Confirm your new address for ${filled.brand.name}`,
    paragraphs: [hello(filled), 'You want to sign in with this address from now on. Please confirm it.'],
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
      `Since ${filled.details.at} you sign in with ${filled.details.email}, and no longer with this address.`,
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
  'organisation.invited': filled => ({
    subject: `Join ${filled.details.organisation} on ${filled.brand.name}`,
    paragraphs: [
      'Hello,',
      `${filled.details.inviter} invites you to ${filled.details.organisation}, with the role ${filled.details.role}.`,
      'Follow the link and sign in with this address, or make an account with it.',
    ],
    action: { label: 'Accept the invitation', url: linkTo(filled, 'join') },
    note: 'The link works once, for a week. If you do not know who sent it, ignore this mail: nothing happens.',
    reason: `You get this because ${filled.details.inviter} entered this address at ${filled.brand.url}.`,
  }),
  'tenant.sign_in': filled => {
    const [token = '', code = ''] = filled.token.split(' ');
    return {
      subject: `Your code for ${filled.details.tenant}: ${spaced(code)}`,
      paragraphs: [hello(filled), `Your code is ${spaced(code)}. Enter it where you asked for it.`],
      action: { label: `Sign in to ${filled.details.tenant}`, url: portalLink(filled, 'sign-in', token) },
      note: 'Code and link work once, for 15 minutes. Nobody will ask you for the code. If you did not ask for it, ignore this mail: nothing happens.',
      reason: `You get this because someone entered this address to sign in to ${filled.details.tenant}.`,
    };
  },
  'tenant.invited': filled => ({
    subject: `Join ${filled.details.tenant}`,
    paragraphs: ['Hello,', `You are invited to ${filled.details.tenant}.`],
    action: { label: 'Accept the invitation', url: portalLink(filled, 'invitation', filled.token) },
    note: 'The link works once. If you do not know who sent it, ignore this mail: nothing happens.',
    reason: `You get this because someone of ${filled.details.tenant} entered this address.`,
  }),
};

const spaced = (code: string): string => `${code.slice(0, 4)} ${code.slice(4)}`;
const portalLink = ({ brand, details }: Filled, what: string, token: string): string =>
  `${brand.url}/portal/${details.tenant_id}#${what}=${token}`;

export function contentOf(kind: MailKind, filled: Filled): MailContent {
  if (isRequest(kind)) throw new TypeError('A request for a mail cannot be rendered as a mail');
  return texts[kind as Exclude<MailKind, RequestKind>](filled);
}

// A tenant's people know the tenant, and not the server that it is on.
export const brandOf = (brand: Brand, { tenant, color }: Readonly<Record<string, string>>): Brand =>
  tenant === undefined ? brand : { ...brand, name: tenant, color: color || brand.color };
