// Every entity there is, and nothing that works with them: whoever follows a table has to know all of it.
export * from './channels/channel-table.ts';
export * from './memory-table.ts';
export * from './skills/custom-table.ts';
export * from './table.ts';
