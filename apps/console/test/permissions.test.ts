import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const source = new URL('../src/', import.meta.url);
const rolesPage = new URL('../../../docs/reference/roles.md', import.meta.url); // generated from the routes

// Called together with another operation by one button.
const askedWith: Readonly<Record<string, string>> = {
  'accounts.readOrganisationProvider': 'accounts.changeOrganisationProvider',
  'accounts.removeOrganisationProvider': 'accounts.changeOrganisationProvider',
  'accounts.testOrganisationProvider': 'accounts.changeOrganisationProvider',
  'agents.deleteChannelCredentials': 'tenants.releaseChannel',
  'inbox.broadcast': 'inbox.publish',
  'webhooks.rotateAlertSecret': 'webhooks.editSource',
  'tenants.deletePortalProvider': 'tenants.putPortalProvider',
  'tenants.revokeTokens': 'tenants.mintToken',
  'tenants.testPortalProvider': 'tenants.putPortalProvider',
};

test('every operation that a viewer may not call is checked before it is offered', async () => {
  const names = await readdir(source, { recursive: true });
  const files = names.filter(name => /(?<!\.test)\.tsx?$/.test(name));
  const texts = await Promise.all(files.map(name => readFile(new URL(name, source), 'utf8')));
  const page = await readFile(rolesPage, 'utf8');
  const roleOf = new Map<string, string>();
  for (const section of page.split('\n## ').slice(1))
    for (const [, operation] of section.matchAll(/`(\w+\.\w+)`/g))
      roleOf.set(operation!, section.split('\n', 1)[0]!);
  const ranks = ['Member', 'Admin', 'Owner'];
  const rankOf = (operation: string) => ranks.indexOf(roleOf.get(operation) ?? '');

  const called = new Set(
    texts.flatMap(text =>
      [...text.matchAll(/\bclient\s*\.\s*(\w+)\s*\.\s*(\w+)/g)].map(([, a, b]) => `${a}.${b}`),
    ),
  );
  const guarded = new Set(
    texts.flatMap(text => [...text.matchAll(/['"](\w+\.\w+)['"]/g)].map(([, name]) => name)),
  );
  const offered = [...called].filter(name => rankOf(name) >= 0);
  expect(offered.length).toBeGreaterThan(50);
  expect(offered.filter(name => !guarded.has(name) && !guarded.has(askedWith[name] ?? ''))).toEqual([]);
  // Callers of the other may call this one too.
  for (const [name, other] of Object.entries(askedWith))
    expect(rankOf(other)).toBeGreaterThanOrEqual(rankOf(name));
});
