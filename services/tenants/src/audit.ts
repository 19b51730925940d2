import type { AccountPrincipal, AnyEndpoint, EndUserPrincipal } from '@stak/http';
import type { AuditRecord, Service } from './deps.ts';

type Manager = AccountPrincipal | EndUserPrincipal;
type ManagerContext = {
  req: { path: string };
  get(name: 'principal'): Manager;
  get(name: 'address' | 'requestId'): string | undefined;
};
type Handle = (c: ManagerContext) => Promise<Response>;

type AuditDeps = Pick<Service, 'audit' | 'log'> & {
  payerOf(tenantId: string): Promise<string | undefined>; // the account whose audit trail it is
};

// Wraps the endpoints whose routes declare a line in the audit trail of the account, and writes it after a change.
// Refused requests changed nothing. If the trail cannot be written, the change stays, and the log has it.
export function auditChanges<const E extends readonly AnyEndpoint[]>(deps: AuditDeps, endpoints: E): E {
  const audited = endpoints.map((one): AnyEndpoint => {
    const { route } = one;
    if (route.audit !== true) return one;
    const handle = one.handler as unknown as Handle;
    const handler: Handle = async c => {
      const response = await handle(c);
      const { accountId, ...actor } = await actorOf(deps, c.get('principal'));
      // A user of our own tenant, which belongs to no account.
      if (accountId === undefined) return response;
      await record(deps, c, accountId, {
        ...actor,
        action: route.operationId!,
        // A created resource has its own URL.
        target: (response.status === 201 && response.headers.get('location')) || c.req.path,
      });
      return response;
    };
    return { ...one, handler: handler as unknown as AnyEndpoint['handler'] };
  });
  return audited as unknown as E;
}

async function actorOf(
  { payerOf }: AuditDeps,
  principal: Manager,
): Promise<Pick<Action, 'via' | 'credentialId' | 'by'> & { accountId: string | undefined }> {
  const accountId = principal.kind === 'endUser' ? await payerOf(principal.tenantId) : principal.accountId;
  return { accountId, ...callerOf(principal) };
}

/** How the audit trail names a caller. */
export function callerOf(principal: Manager): Pick<Action, 'via' | 'credentialId' | 'by'> {
  if (principal.kind === 'endUser') return { via: 'end_user', credentialId: userName(principal) };
  const { userId: by, via, credentialId } = principal;
  return { via, credentialId, ...(by !== undefined && { by }) };
}

export const userName = ({ tenantId, userId }: Pick<EndUserPrincipal, 'tenantId' | 'userId'>): string =>
  `${tenantId}/${userId}`;

type Action = Omit<AuditRecord, 'address' | 'requestId'>;
type Where = { get(name: 'address' | 'requestId'): string | undefined };

export async function record(
  { audit, log }: Pick<Service, 'audit' | 'log'>,
  c: Where,
  accountId: string,
  action: Action,
): Promise<void> {
  const entry = { ...action, address: c.get('address'), requestId: c.get('requestId') };
  try {
    await audit(accountId, entry);
  } catch (error) {
    log.error({ err: error, account_id: accountId, ...entry }, 'the audit trail could not be written');
  }
}
