// What is written because of something else names its cause in one attribute, `cause`: the id of the nearest thing that
// caused it. Ids say what they are by their prefix. See docs/adr/0236-what-is-written-names-its-cause.md.

// The longest cause: with the name of its attribute it has 40 bytes.
const causeChars = 35;

// What an id of a cause says: the kind of thing that it names.
type CauseKind = 'event' | 'task' | 'turn' | 'job' | 'request';

const kinds: ReadonlyMap<string, CauseKind> = new Map([
  ['evt', 'event'],
  ['tsk', 'task'],
  ['turn', 'turn'],
  ['job', 'job'],
  ['req', 'request'],
]);

const ownId = new RegExp(`^(?:${[...kinds.keys()].join('|')})_[0-9a-z]{24}$`);

/**
 * A request as a cause. Of an id that its caller chose, the beginning is kept, marked so that it cannot be taken for an
 * id of ours.
 *
 *     causeOfRequest('req_0mjuxvy9s00b8f0k3x1q2w4e'); // the same
 *     causeOfRequest('4bf92f35-77b3-4da6'); // ~4bf92f35-77b3-4da6
 */
export const causeOfRequest = (requestId: string): string =>
  requestId.startsWith('req_') && ownId.test(requestId)
    ? requestId
    : `~${requestId.slice(0, causeChars - 1)}`;

/** Reads a cause; undefined for text that is none. */
export function readCause(cause: string): { kind: CauseKind; id: string } | undefined {
  if (cause.startsWith('~') && cause.length > 1 && cause.length <= causeChars)
    return { kind: 'request', id: cause.slice(1) };
  return ownId.test(cause) ? { kind: kinds.get(cause.slice(0, cause.indexOf('_')))!, id: cause } : undefined;
}

/** A thing with a cause, or that may be one: its kind, and what identifies it. */
export type Ref = { readonly kind: string; readonly parts: readonly string[] };

/**
 * Something that happened, for those who ask why.
 */
export type Thing = {
  readonly ref: Ref;
  readonly at?: number | undefined; // in milliseconds
  readonly what: string; // in a few words
  readonly by?: string | undefined; // who did it
  readonly decided?: string | undefined; // what was decided, and by which rule
  // Who may see it: the account, the tenant's account, or these users of the tenant.
  readonly owner: { readonly account?: string; readonly tenant?: string; readonly users?: readonly string[] };
  readonly scope?: string; // that a user's token needs; without it, users of tenants do not see it
  readonly cause?: Ref | undefined; // without it, it is a root
  readonly followed: readonly Ref[]; // because of it, as far as keys tell
  readonly hasMore?: boolean; // more followed than is listed
};

/** The thing that a cause names. Requests and jobs are of an account. */
export function refOfCause(cause: string | undefined, accountId: string): Ref | undefined {
  const { kind, id } = (cause !== undefined && readCause(cause)) || {};
  if (kind === undefined || id === undefined) return undefined;
  return { kind, parts: kind === 'event' || kind === 'turn' ? [id] : [accountId, id] };
}

/** Who asks. */
export type Asker = {
  readonly accountId: string; // the caller, or the account of their tenant
  readonly userId?: string; // of an end user
  readonly auditor?: string; // the person who may read the audit trail
};

/**
 * Finds the things of a service, by kind. Some kinds stand for none or several of others: those that a key names. Who
 * may see a thing is checked by the caller.
 */
export type Find = (parts: readonly string[], asker: Asker) => Promise<readonly Thing[]>;
/** The things of a service, or of all of them, by kind. */
export type Findings = Readonly<Record<string, Find>>;

const escaped = (part: string): string =>
  part.replace(/[%/\s]|[^\x21-\x7e]/gu, found => encodeURIComponent(found));

/**
 * A thing as text, and back.
 *
 *     refText({ kind: 'task', parts: ['acme:ann', 'tsk_0mj…'] }); // task:acme:ann/tsk_0mj…
 */
export const refText = ({ kind, parts }: Ref): string => `${kind}:${parts.map(escaped).join('/')}`;

/** Undefined for text that names nothing. */
export function readRef(text: string): Ref | undefined {
  const [, kind, rest] = /^([a-z]{2,20}):([\x21-\x7e]+)$/.exec(text) ?? [];
  if (kind === undefined || rest === undefined) return undefined;
  try {
    const parts = rest.split('/').map(decodeURIComponent);
    return parts.every(part => part !== '' && part.isWellFormed()) ? { kind, parts } : undefined;
  } catch {
    return undefined; // an escape that is none
  }
}
