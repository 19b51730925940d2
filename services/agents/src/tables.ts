// Every entity there is, and nothing that works with them: a consumer of the table's stream has to know all of it.
export * from './approvals/table.ts';
export * from './channels/table.ts';
export * from './memory/table.ts';
export * from './skills/table.ts';
export * from './table.ts';
