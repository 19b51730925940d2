import { causeOfRequest } from '@stak/kit';
import { z } from 'zod';
import type { Principal } from '../principal.ts';

const prefixes = 'evt|tsk|turn|job';
const shape = new RegExp(`^(?:${prefixes})_[0-9a-z]{24}$`);

/** The header by which the backend of an account says why it makes a request. */
export const causeHeaders = z.object({
  'stak-cause': z
    .string()
    .regex(shape, 'Must be the id of an event, a task, a turn or a job')
    .optional()
    .describe(
      'The id of what caused the request, such as the event of the webhook that is handled. Only of accounts.',
    ),
});

type Called = {
  get(name: 'principal'): Principal | undefined;
  get(name: 'requestId'): string;
  req: { header(name: string): string | undefined };
};

/**
 * The cause of what a request writes: what an account's backend names, or else the request itself. Whether the named
 * thing exists, and whose it is, is found out when somebody asks why: a write does not read it.
 */
export function causeOf(c: Called): string {
  const named = c.get('principal')?.kind === 'account' ? c.req.header('stak-cause') : undefined;
  // Not every route that writes declares the header.
  return named !== undefined && shape.test(named) ? named : causeOfRequest(c.get('requestId'));
}
