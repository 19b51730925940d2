import type { Context } from './context.ts';
export const stats = (_: Context) => ({});
