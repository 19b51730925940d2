import type { AccountPrincipal, AnyEndpoint } from '@stak/http';
import type { Service } from './deps.ts';

type AccountContext = {
  req: { path: string };
  get(name: 'principal'): AccountPrincipal;
  get(name: 'address' | 'requestId'): string | undefined;
};
type Handle = (c: AccountContext) => Promise<Response>;

// Every endpoint of an account that changes something, with a line in the audit trail once it has. What was
// refused changed nothing. A trail that cannot be written does not undo what was done: the log has it then.
export function auditChanges<const E extends readonly AnyEndpoint[]>(
  deps: Pick<Service, 'audit' | 'log'>,
  endpoints: E,
): E {
  const audited = endpoints.map((one): AnyEndpoint => {
    const { route } = one;
    if (route.method === 'get' || route.auth !== 'account') return one;
    const handle = one.handler as unknown as Handle;
    const handler: Handle = async c => {
      const response = await handle(c);
      const { accountId, userId, via, credentialId } = c.get('principal');
      await record(deps, c, {
        account_id: accountId,
        actor: `${via}:${credentialId}`,
        ...(userId !== undefined && { person: userId }),
        action: route.operationId!,
        // What was created has a place of its own.
        target: (response.status === 201 && response.headers.get('location')) || c.req.path,
      });
      return response;
    };
    return { ...one, handler: handler as unknown as AnyEndpoint['handler'] };
  });
  return audited as unknown as E;
}

type Action = { account_id: string; actor: string; person?: string; action: string; target: string };
type Where = { get(name: 'address' | 'requestId'): string | undefined };

export async function record(
  { audit, log }: Pick<Service, 'audit' | 'log'>,
  c: Where,
  action: Action,
): Promise<void> {
  const entry = { ...action, address: c.get('address'), request_id: c.get('requestId') };
  try {
    await audit(entry);
  } catch (error) {
    log.error({ err: error, ...entry }, 'the audit trail could not be written');
  }
}
