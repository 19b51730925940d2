import type { Logger } from '@stak/kit';
import type { AccountPrincipal, EndUserPrincipal } from '../principal.ts';

// A line of an account's audit trail.
export type AuditLine = {
  action: string; // the operation: `tenants.createUser`
  target: string; // the path of what was changed
  via: string; // the kind of credential: session, api_key, invitation, end_user, openid or a channel
  credentialId: string;
  by?: string; // the person who signed in, or created the key
  detail?: string;
  address?: string;
  requestId?: string;
};
export type WriteAudit = (accountId: string, line: AuditLine) => Promise<void>;

/** How the audit trail names a caller. */
export function callerOf(
  principal: AccountPrincipal | EndUserPrincipal,
): Pick<AuditLine, 'via' | 'credentialId' | 'by'> {
  if (principal.kind === 'endUser') return { via: 'end_user', credentialId: userName(principal) };
  const { userId: by, via, credentialId } = principal;
  return { via, credentialId, ...(by !== undefined && { by }) };
}

export const userName = ({ tenantId, userId }: Pick<EndUserPrincipal, 'tenantId' | 'userId'>): string =>
  `${tenantId}/${userId}`;

// Writes a line after a change. If the trail cannot be written, the change stays, and the log has the line.
export async function recordLine(
  { audit, log }: { audit: WriteAudit; log: Logger },
  c: { get(name: 'address' | 'requestId'): string | undefined },
  accountId: string,
  action: Omit<AuditLine, 'address' | 'requestId'>,
): Promise<void> {
  const line = { ...action, address: c.get('address'), requestId: c.get('requestId') };
  try {
    await audit(accountId, line);
  } catch (error) {
    log.error({ err: error, account_id: accountId, ...line }, 'the audit trail could not be written');
  }
}
