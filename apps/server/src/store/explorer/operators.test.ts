import type { Principal } from '@stak/http';
import { expect, it } from 'vitest';
import type { NodeRequest } from '../../config/loopback.ts';
import { createOperators } from './operators.ts';

const session = (accountId: string): Principal => ({
  kind: 'account',
  accountId,
  scope: 'admin',
  via: 'session',
  credentialId: 'ses_1',
});

const operators = createOperators(['usr_named']);
operators.admitFromHere('usr_demo');

const here: NodeRequest = {
  headers: { host: '127.0.0.1:8787' },
  socket: { remoteAddress: '127.0.0.1', localPort: 8787 },
};
const elsewhere: NodeRequest = {
  ...here,
  headers: { host: 'stak.example.com', 'x-forwarded-for': '192.0.2.1' },
};

const isLetIn = (principal: Principal, request: NodeRequest | undefined = here): boolean => {
  const caller = { principal, request };
  const isOperator = operators.isOperator(caller);
  if (!isOperator) expect(() => operators.assertOperator(caller)).toThrow('There is nothing here.');
  return isOperator;
};

it('accepts named accounts from anywhere, and the demo from this machine', () => {
  expect(isLetIn(session('usr_named'))).toBe(true);
  expect(isLetIn(session('usr_named'), elsewhere)).toBe(true);
  expect(isLetIn(session('usr_demo'))).toBe(true);
  expect(isLetIn(session('usr_demo'), elsewhere)).toBe(false);
  expect(operators.isOperator({ principal: session('usr_demo'), request: undefined })).toBe(false);
});

it('accepts nobody else', () => {
  expect(isLetIn(session('usr_other'))).toBe(false);
  expect(isLetIn({ ...session('usr_named'), via: 'api_key' } as Principal)).toBe(false);
  expect(isLetIn({ kind: 'endUser', tenantId: 'x', userId: 'usr_named', scope: 'admin' })).toBe(false);
  expect(isLetIn({ kind: 'provider', provider: 'x', subject: 'usr_named' })).toBe(false);
});
