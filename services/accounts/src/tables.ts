// Every entity there is, and nothing that works with them: whoever follows a table has to know all of it.
export * from './billing/table.ts';
export * from './mail/table.ts';
export * from './recovery/table.ts';
export * from './table.ts';
