import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { failedCondition, type ItemOf, is, isRefused, type WriteStep, write } from '@stak/table';
import { type EnteredTenant, readOpenTenant } from '../access/gate.ts';
import { secondOf } from '../access/token-epochs.ts';
import { mailedBrand, portalOf } from '../branding.ts';
import { timestampOf } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { signIn, user } from '../tables.ts';
import { findByEmail } from '../users/users.ts';
import { findProvider } from './provider.ts';
import { type Deps, type SignedIn, startSession } from './sessions.ts';

// Signing in has two steps. A request with an address returns an attempt, whether or not there is a user with it: the
// worker that sends mail looks for the user later, so neither the response nor its time reveals whether there is one.
// The mail has a code, for the browser that holds the attempt, and a link, for any browser. Each works once.

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const newSecret = (): string => randomBytes(limits.signInSecretBytes).toString('base64url');
const secretShape = /^(sig_[0-9a-z]{24})\.([A-Za-z0-9_-]{43})$/;

// The same response for a wrong code, an expired one and a used link.
const refused = () =>
  tenantErrors.create(
    'tenants.sign_in_refused',
    'This code or link is wrong, has been used, or has expired. Request another.',
  );

// A tenant whose users sign in elsewhere gets the same response as one that does not exist.
export async function enterPortal(deps: Deps, tenant_id: string) {
  const entered = await readOpenTenant(deps, tenant_id);
  if (!entered) throw noTenant();
  const { portal, provider } = await readPortal(deps, entered);
  if (!portal.sign_in && !portal.provider) throw noTenant();
  return { entered, portal, provider };
}

export async function readPortal(deps: Deps, entered: EnteredTenant) {
  const { mail, issuers } = deps.portal;
  const provider = issuers && (await findProvider(deps, entered.tenant_id));
  const ways = { mail: mail !== undefined, provider: provider !== undefined };
  return { portal: portalOf(entered, ways), provider };
}

async function readMailPortal(deps: Deps, tenant_id: string) {
  const entered = await readOpenTenant(deps, tenant_id);
  const ways = { mail: deps.portal.mail !== undefined, provider: false };
  if (!entered || !portalOf(entered, ways).sign_in) throw noTenant();
  return { entered };
}

export async function requestSignIn(
  deps: Deps,
  tenant_id: string,
  { email: given, address }: { email: string; address: string | undefined },
): Promise<{ attempt: string; expires_at: string }> {
  const { entered } = await readMailPortal(deps, tenant_id);
  const mail = deps.portal.mail!;
  const email = given.toLowerCase();
  await mail.tryMail({ email, address, account: entered.account_id });
  const sign_in_id = deps.ids.next('sig');
  const secret = newSecret();
  const steps = mail.steps({
    kind: 'tenant.sign_in_requested',
    to: email,
    details: { tenant_id, sign_in_id, attempt_hash: hashOf(secret) },
    keptS: limits.signInTtlS,
  });
  await deps.store.transact(steps, { pattern: 'request a sign-in' });
  mail.wake();
  const expires_at = timestampOf(deps.clock.now() + limits.signInTtlS * 1000);
  return { attempt: `${sign_in_id}.${secret}`, expires_at };
}

export type SignInRequest = { to: string; details: Readonly<Record<string, string>> };

// Turns a request into a sign-in and its mail, or nothing.
export async function resolveSignIn(
  deps: Deps,
  { to, details }: SignInRequest,
): Promise<Readonly<Record<string, WriteStep>>> {
  const { tenant_id = '', sign_in_id = '', attempt_hash = '' } = details;
  const entered = await readOpenTenant(deps, tenant_id);
  const mail = deps.portal.mail;
  if (!entered || !mail || entered.status === 'suspended') return {};
  const portal = portalOf(entered, { mail: true, provider: false });
  const [person] = (await findByEmail(deps, tenant_id, to)).items;
  if (!portal.sign_in || !person) return {};
  const brand = await mailedBrand(mail, entered);
  const code = String(randomInt(10 ** limits.signInCodeDigits)).padStart(limits.signInCodeDigits, '0');
  const link = newSecret();
  const item = {
    tenant_id,
    sign_in_id,
    user_id: person.user_id,
    email_hash: hashOf(to),
    attempt_hash,
    code_hash: hashOf(code),
    link_hash: hashOf(link),
    tries: 0,
    created_at: timestampOf(deps.clock.now()),
    ttl: secondOf(deps.clock) + limits.signInTtlS,
  };
  return {
    'the sign-in': write.put(signIn, item),
    ...mail.steps({
      kind: 'tenant.sign_in',
      to: person.email!,
      details: { ...brand, ...(brand.tenant !== undefined && { name: person.display_name }) },
      token: `${sign_in_id}.${link} ${code}`,
      keptS: limits.signInTtlS,
    }),
  };
}

export type Proof = { attempt: string; code: string } | { token: string };

export async function finishSignIn(
  deps: Deps,
  tenant_id: string,
  proof: Proof,
  userAgent: string | undefined,
): Promise<SignedIn> {
  const { entered } = await readMailPortal(deps, tenant_id);
  if (entered.status === 'suspended') throw refused();
  const [, sign_in_id = '', secret = ''] =
    secretShape.exec('token' in proof ? proof.token : proof.attempt) ?? [];
  const found =
    'token' in proof
      ? await findByLink(deps, { tenant_id, sign_in_id }, secret)
      : await tryCode(deps, { tenant_id, sign_in_id }, secret, proof.code);
  const { user_id, link_hash, email_hash } = found;
  const person = await deps.store.get(user, { tenant_id, user_id }, { consistent: true });
  // The mail proves an address: it must still be the user's.
  if (!person?.email || hashOf(person.email.toLowerCase()) !== email_hash) throw refused();
  const use = write.delete(
    signIn,
    { tenant_id, sign_in_id },
    { ifPresent: true, if: { link_hash, ttl: is.above(secondOf(deps.clock)) } },
  );
  const isThere = write.check(
    user,
    { tenant_id, user_id },
    { present: true, if: { version: person.version } },
  );
  try {
    return await startSession(deps, { tenant_id, user_id, role: person.role }, userAgent, [
      ['use the sign-in', use],
      ['the user', isThere],
    ]);
  } catch (error) {
    const { step } = failedCondition(error) ?? {};
    throw step === 'use the sign-in' || step === 'the user' ? refused() : error;
  }
}

type Key = { tenant_id: string; sign_in_id: string };

async function findByLink({ store }: Deps, key: Key, secret: string): Promise<ItemOf<typeof signIn>> {
  const found = key.sign_in_id === '' ? undefined : await store.get(signIn, key, { consistent: true });
  if (!found || !isHashOf(found.link_hash, secret)) throw refused();
  return found;
}

// Counted before it is checked, so that concurrent tries all count. Without the attempt, tries cannot be used up.
async function tryCode(
  { store, clock }: Deps,
  key: Key,
  secret: string,
  code: string,
): Promise<ItemOf<typeof signIn>> {
  if (key.sign_in_id === '') throw refused();
  const condition = {
    attempt_hash: hashOf(secret),
    tries: is.below(limits.signInTries),
    ttl: is.above(secondOf(clock)),
  };
  try {
    const found = await store.update(
      signIn,
      key,
      { add: { tries: 1 } },
      { if: condition, pattern: 'try a code' },
    );
    if (isHashOf(found.code_hash, code.replaceAll(/[\s-]/g, ''))) return found;
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  throw refused();
}

const isHashOf = (hash: string, secret: string): boolean =>
  timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashOf(secret), 'hex'));
