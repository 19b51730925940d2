import { z } from 'zod';
import { durationChars } from './limits.ts';

const shape = /^([1-9]\d{0,8})([dhms])$/;
const units = { d: 86_400, h: 3600, m: 60, s: 1 };

// `30d`, `12h`, `300m`, `6000s`, in seconds; undefined for anything else.
export function secondsOf(duration: string): number | undefined {
  const match = shape.exec(duration);
  return match ? Number(match[1]) * units[match[2] as keyof typeof units] : undefined;
}

export const duration = (mostS: number) => {
  const hint = `A duration like 30d, 12h, 300m or 6000s, at most ${mostS / 86_400}d`;
  return z
    .string()
    .max(durationChars, { error: hint, abort: true })
    .refine(text => {
      const seconds = secondsOf(text);
      return seconds !== undefined && seconds <= mostS;
    }, hint);
};

type Policies = {
  own?: string; // the message's
  category?: string;
  inboxTtl: Readonly<Record<string, string>>;
  tenantTtl?: string;
  defaultS: number;
};

// The message's own, else the inbox's for its category, else the inbox's, else the tenant's, else the default.
export function ttlSeconds({ own, category, inboxTtl, tenantTtl, defaultS }: Policies): number {
  const ofCategory =
    category !== undefined && Object.hasOwn(inboxTtl, category) ? inboxTtl[category] : undefined;
  for (const policy of [own, ofCategory, inboxTtl.default, tenantTtl]) {
    const seconds = policy === undefined ? undefined : secondsOf(policy);
    if (seconds !== undefined) return seconds;
  }
  return defaultS;
}
