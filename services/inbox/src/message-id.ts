import { type Ids, timeOf } from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';

const idTimeDigits = 9; // of the kit's ids

// The first text that an id of this millisecond, or a later one, can have.
export const idBoundary = (ms: number): string => Math.max(0, ms).toString(36).padStart(idTimeDigits, '0');

// An id for a moment to come: a scheduled message is listed where it is due, not where it was written.
export const idFor = (ids: Ids, ms: number): string => idBoundary(ms) + ids.next().slice(idTimeDigits);

const hint = 'Not the id of a message';

export const messageId = z
  .string()
  .max(limits.idChars, { error: hint, abort: true })
  .refine(id => timeOf(id) !== undefined && !id.includes('_'), hint);
