// In the words of the console. Names of tables belong to operators, who may have given them a prefix.
const titles: readonly (readonly [string, string])[] = [
  ['ferryhook-main', 'Accounts, sources and connections'],
  ['ferryhook-events', 'Events and deliveries'],
  ['stak-inbox', 'Inboxes'],
  ['todo-app-data', 'Tasks'],
  ['tenants', 'Tenants and memory'],
  ['conversations', 'Conversations'],
  ['stak-storage', 'Storage in use'],
  ['stak-http', 'Requests and limits'],
  ['stak-streams', 'Servers and their streams'],
];

/** The content of a table, for people who know nothing of tables. */
export const tableTitle = (table: string): string =>
  titles.find(([name]) => table.endsWith(name))?.[1] ?? 'Other data';
