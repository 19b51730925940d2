import type { Fault } from '../fault.ts';

// What routes declare about themselves.

export const declarationFaults: readonly Fault[] = [
  {
    name: 'http-line-not-written',
    file: 'packages/http/src/guards.ts',
    before: '    if (isAudited) await writeLine(c, response, route, guards, log);\n',
    after: '',
    why: 'Nothing that is done is in the audit trail',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'a line names the caller' },
  },
  {
    name: 'http-line-not-admitted',
    file: 'packages/http/src/guards.ts',
    before: '    if (route.audit !== false) await storage.admitLine(accountId, isOwner);\n',
    after: '',
    why: 'Edits of a full account fill the disk by their audit lines',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'storage is asked for' },
  },
  {
    name: 'http-answer-not-charged',
    file: 'packages/http/src/guards.ts',
    before:
      "    if (isCharged && c.req.header('idempotency-key') !== undefined) await charge(c, response, guards);\n",
    after: '',
    why: 'Answers that are kept for a day cost nothing',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'is charged once' },
  },
  {
    name: 'http-stream-entered-once',
    file: 'packages/http/src/guards.ts',
    before: "    c.set('enterAgain', enter);\n",
    after: '',
    why: 'A stream of a tenant stays open when the tenant is suspended',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'enters its tenant again' },
  },
  {
    name: 'http-named-account-not-asked',
    file: 'packages/http/src/guards.ts',
    before: '  if (named !== undefined) return named;\n',
    after: '',
    why: 'An unverified account reaches outside by its public address',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'the account in a public path' },
  },
  {
    name: 'http-fields-ignored',
    file: 'packages/http/src/guards.ts',
    before: 'names.some(name => body[name] !== undefined && body[name] !== null)',
    after: 'names.every(name => body[name] !== undefined && body[name] !== null)',
    why: 'Only a request with all fields that name an address is checked',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'nothing is reached without' },
  },
  {
    name: 'http-reach-of-tenant-unchecked',
    file: 'packages/http/src/guards.ts',
    before: 'return tenantId === undefined ? undefined : guards.payerOf(tenantId);',
    after: 'return undefined;',
    why: 'The portal of an unverified account sends mail to anyone',
    caughtBy: { test: 'packages/http/test/declarations.test.ts', name: 'the account in a public path' },
  },
];
