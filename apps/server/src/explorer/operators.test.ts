import type { Principal } from '@stak/http';
import { expect, it } from 'vitest';
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

const isLetIn = (principal: Principal, url = 'http://127.0.0.1:8787/v1/tables', headers = {}): boolean => {
  const sent = new Headers(headers);
  const caller = { principal, url, header: (name: string) => sent.get(name) ?? undefined };
  const isOperator = operators.isOperator(caller);
  if (!isOperator) expect(() => operators.assertOperator(caller)).toThrow('There is nothing here.');
  return isOperator;
};

it('knows named accounts from anywhere, and the demo from this machine', () => {
  const elsewhere = 'https://stak.example.com/v1/tables';
  const proxied = { 'X-Forwarded-For': '192.0.2.1' };
  expect(isLetIn(session('usr_named'))).toBe(true);
  expect(isLetIn(session('usr_named'), elsewhere, proxied)).toBe(true);
  for (const host of ['127.0.0.1:8787', 'localhost', '[::1]:8787'])
    expect(isLetIn(session('usr_demo'), `http://${host}/v1/tables`)).toBe(true);
  expect(isLetIn(session('usr_demo'), elsewhere)).toBe(false);
  expect(isLetIn(session('usr_demo'), 'http://127.0.0.1.example.com/v1/tables')).toBe(false);
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'])
    expect(isLetIn(session('usr_demo'), undefined, { [name]: 'x' }), name).toBe(false);
});

it('knows nobody else, however they come', () => {
  expect(isLetIn(session('usr_other'))).toBe(false);
  expect(isLetIn({ ...session('usr_named'), via: 'api_key' } as Principal)).toBe(false);
  expect(isLetIn({ kind: 'endUser', tenantId: 'x', userId: 'usr_named', scope: 'admin' })).toBe(false);
  expect(isLetIn({ kind: 'provider', provider: 'x', subject: 'usr_named' })).toBe(false);
});
