import { withCapital } from './capital.ts';

// Puts an entry of the audit trail into words that follow a name: "created a connection".

const texts: Readonly<Record<string, string>> = {
  'account.created': 'signed up',
  'account.changed': 'changed their account',
  'account.deleted': 'deleted the account',
  'account.downloaded': 'downloaded everything of the account',
  'app.approved': 'let an app in',
  'app.reused': 'was signed out of an app: its token was used twice',
  'email.change_requested': 'asked to change their address',
  'email.changed': 'changed their address',
  'email.verified': 'verified their address',
  'factor.changed': 'changed a second factor',
  'invitation.resent': 'sent an invitation again',
  'invitation.sent': 'sent an invitation',
  'invitation.withdrawn': 'withdrew an invitation',
  'lake.texts_enabled': 'switched on texts in the lake',
  'lake.texts_disabled': 'switched off texts in the lake, which erases them',
  'member.joined': 'joined',
  'member.left': 'left',
  'ownership.transferred': 'transferred the ownership',
  'passkey.refused': 'was refused with a passkey',
  'password.changed': 'changed their password',
  'password.reset': 'reset their password',
  'password.reset_requested': 'asked to reset the password',
  'portal.opened': 'opened the billing portal',
  'session.started': 'signed in',
  'session.ended': 'signed out',
  'session.refused': 'was refused: wrong password or code',
  'session.reused': 'was signed out: their session was used twice',
  'session.switched': 'switched the organisation',
  'inbox.publish': 'sent a message',
  'inbox.broadcast': 'sent a message to everyone',
  'inbox.cancel': 'cancelled a message',
  'inbox.redact': 'redacted a message',
  'accounts.exportAudit': 'exported the audit trail',
  'accounts.save': 'saved a view, a query or a template',
  'accounts.removeSaved': 'removed a saved view, query or template',
  'lake.query': 'queried the lake',
  'lake.export': 'exported a query of the lake',
  'tasks.bulk': 'changed several tasks',
  'webhooks.createJob': 'replayed or cancelled several events',
  'webhooks.cancelJob': 'stopped replaying or cancelling several events',
  'webhooks.replayEvent': 'replayed an event',
  'tasks.export': 'exported tasks',
  'tasks.purge': 'deleted a task for good',
  'tasks.replaceFeed': 'made a new calendar address',
  'tasks.revokeFeed': 'revoked the calendar address',
  'tasks.clearCompleted': 'cleared completed tasks',
  'tasks.emptyTrash': 'emptied the trash',
};

const verbs: Readonly<Record<string, string>> = {
  accept: 'accepted',
  add: 'added',
  archive: 'archived',
  cancel: 'cancelled',
  change: 'changed',
  claim: 'connected',
  clear: 'cleared',
  create: 'created',
  decide: 'decided',
  delete: 'deleted',
  edit: 'changed',
  erase: 'erased',
  export: 'exported',
  finish: 'finished',
  import: 'imported',
  invite: 'invited',
  mint: 'minted',
  move: 'moved',
  put: 'changed',
  rate: 'rated',
  redact: 'redacted',
  refresh: 'refreshed',
  register: 'registered',
  release: 'disconnected',
  remove: 'removed',
  rename: 'renamed',
  replace: 'replaced',
  replay: 'replayed',
  resend: 'resent',
  restore: 'restored',
  revoke: 'revoked',
  rotate: 'rotated',
  save: 'saved',
  send: 'sent',
  set: 'changed',
  test: 'tested',
  try: 'tried',
  update: 'changed',
  withdraw: 'withdrew',
  write: 'changed',
};

/** The words for an action: one of the table, an operation (`webhooks.createSource`) or `key.created`. */
export function actionText(action: string): string {
  const known = texts[action];
  if (known !== undefined) return known;
  const [first = '', second = ''] = action.split('.');
  const [verb = '', ...nouns] = second.split(/(?=[A-Z])/).map(word => word.toLowerCase());
  if (verbs[verb] !== undefined)
    return `${verbs[verb]} ${withArticle(nouns.length > 0 ? nouns.join(' ') : first.replace(/s$/, ''))}`;
  if (/ed$/.test(second) && !second.includes('_')) return `${second} ${withArticle(first)}`;
  return [first, ...second.split(/(?=[A-Z])|_/)].join(' ').toLowerCase().trim();
}

const withArticle = (noun: string): string =>
  /[^s]s$/.test(noun) ? noun : `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** How somebody signed in, or what they used: "Password", "API key". */
export const viaText = (via: string): string =>
  via === 'github' ? 'GitHub' : via === 'api_key' ? 'API key' : withCapital(via.replaceAll('_', ' '));

const singular = (noun: string): string =>
  noun
    .replace(/ies$/, 'y')
    .replace(/(?<=x|ss)es$|(?<!s)s$/, '')
    .replaceAll('-', ' ');

/**
 * Names what it was done to: for the path of an operation, the things in it ("tenant acme, user ann"). `names` has the names
 * of those whose ids say nothing to a reader.
 */
export function targetText(target: string, names: ReadonlyMap<string, string> = new Map()): string {
  if (target.startsWith('ses_')) return '–'; // the id of a session tells a reader nothing
  if (!target.startsWith('/v1/')) return target;
  const steps = target.slice('/v1/'.length).split('/').map(decodeURIComponent);
  const named = steps.flatMap((step, at) =>
    at % 2 === 1 ? [`${singular(steps[at - 1]!)} ${names.get(step) ?? step}`] : [],
  );
  return named.length > 0 ? named.join(', ') : singular(steps[0]!);
}
