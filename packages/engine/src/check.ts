import type { Context } from './context.ts';
export const checkStore = (_: Context) => ({ problems: [] as string[] });
