// Every entity there is, and nothing that works with them: whoever follows a table has to know all of it.
export * from './counter-table.ts';
export * from './events-table.ts';
export * from './main-table.ts';
