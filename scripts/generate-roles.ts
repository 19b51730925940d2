import type { Documented } from './generate-errors.ts';

type Roles = Readonly<Record<string, { scope: string; manages: readonly string[]; may: string }>>;
type Operation = {
  operationId?: string;
  'x-auth'?: string;
  'x-scope'?: string;
  'x-role'?: string;
  'x-own'?: boolean;
};

const scopes = ['read', 'write', 'admin'];

// The page of what each role in an organisation may do: the table in the code, and which operations follow from it.
export function rolesPage(roles: Roles, document: Documented): string {
  const operations = Object.values(document.paths ?? {})
    .flatMap(item => Object.values(item) as Operation[])
    .sort((a, b) => (a.operationId! < b.operationId! ? -1 : 1));
  const isPersonal = (operation: Operation) =>
    operation['x-auth'] === 'person' || operation['x-own'] === true;
  const guarded = operations.filter(
    operation => operation['x-scope'] !== undefined && operation['x-auth'] !== 'endUser',
  );
  const shared = guarded.filter(one => !isPersonal(one));
  // From the least to the most: each adds to what those before it may do.
  const names = Object.keys(roles).reverse();
  const mayCall = (role: string, operation: Operation) =>
    scopes.indexOf(roles[role]!.scope) >= scopes.indexOf(operation['x-scope']!) &&
    (operation['x-role'] === undefined || operation['x-role'] === role);
  const first = (operation: Operation) => names.find(role => mayCall(role, operation));
  return [
    '# Roles',
    '',
    'Generated from `services/accounts/src/roles.ts` and the routes by `npm run generate`. A session of a member holds the scope of their role, and every route says which scope it needs: a new route cannot forget to ask.',
    '',
    '| Role | Scope | Invites, changes and removes | May |',
    '|---|---|---|---|',
    ...Object.entries(roles).map(
      ([name, { scope, manages, may }]) =>
        `| \`${name}\` | \`${scope}\` | ${manages.map(name => `\`${name}\``).join(', ') || 'nobody'} | ${may} |`,
    ),
    '',
    ...names.flatMap((role, i) => [
      `## ${role[0]!.toUpperCase()}${role.slice(1)}`,
      '',
      i === 0 ? 'May call:' : `May call all of the above, and:`,
      '',
      listed(shared.filter(one => first(one) === role)),
      '',
    ]),
    '## Everybody, for themselves',
    '',
    'Whatever their role, people who have signed in may call these for their own sign-in and membership:',
    '',
    listed(operations.filter(isPersonal)),
    '',
  ].join('\n');
}

const listed = (operations: readonly Operation[]): string =>
  operations.map(operation => `\`${operation.operationId}\``).join(', ');
