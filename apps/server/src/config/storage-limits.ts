import type { StorageLimits } from '@stak/accounts';
import { z } from 'zod';

// Listed here, because every command loads this file and few need the accounts package.
const plans: Required<{ [plan in keyof StorageLimits]: null }> = {
  free: null,
  starter: null,
  pro: null,
  team: null,
  selfhosted: null,
};
const limit =
  /^(?<plan>free|starter|pro|team|selfhosted)=(?:none|(?<size>\d+(?:\.\d+)?) ?(?<unit>MB|GB|TB))$/;
const bytesOf: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 };

// `none`, or a list like `free=500MB,pro=none`: limits of an installation that override those of the plans.
export const storageLimits = z
  .string()
  .transform(text => text.split(',').map(part => part.trim()))
  .refine(parts => parts.join() === 'none' || parts.every(part => limit.test(part)), {
    message: 'must be none, or plan=size, like free=500MB,pro=none',
  })
  .transform((parts): StorageLimits => {
    if (parts[0] === 'none') return plans;
    const limits = parts.map(part => {
      const { plan = '', size, unit = '' } = limit.exec(part)?.groups ?? {};
      return [plan, size === undefined ? null : Math.round(Number(size) * bytesOf[unit]!)];
    });
    return Object.fromEntries(limits);
  });
