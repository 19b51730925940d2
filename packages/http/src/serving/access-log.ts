import type { Logger } from '@stak/kit';
import type { Principal } from '../principal.ts';
import type { RequestRecord } from './serving.ts';

const probes = new Set(['GET /healthz', 'GET /readyz', 'GET /metrics']); // several times a minute, forever

// Writes one line for each request, for `observe`. It logs the route instead of the URL, whose path and query may
// contain secrets; tokens and bodies are not even in the record.
export function accessLog(log: Logger): (record: RequestRecord) => void {
  return ({ requestId, method, route, status, code, durationMs, principal, address }) => {
    const level = probes.has(route) ? 'debug' : 'info';
    if (!log.isLevelEnabled(level)) return;
    const line = { request_id: requestId, method, route, status, code, ms: durationMs, address };
    log[level](principal ? { ...line, ...callerOf(principal) } : line, 'request');
  };
}

function callerOf(principal: Principal): object {
  if (principal.kind === 'account')
    return {
      account: principal.accountId,
      person: principal.userId,
      credential: principal.credentialId,
    };
  if (principal.kind === 'endUser') return { tenant: principal.tenantId, user: principal.userId };
  return { provider: principal.provider, subject: principal.subject };
}
