// Every entity there is, and nothing that works with them: whoever follows a table has to know all of it.
export * from './send-table.ts';
export * from './table.ts';
