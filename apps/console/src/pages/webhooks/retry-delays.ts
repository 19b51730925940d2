export const usualDelaysS = [30, 120, 900, 3_600, 14_400, 43_200, 86_400];

const units = { s: 1, m: 60, h: 3_600 } as const;

/** "30s, 5m 1h" in seconds; throws if a part is not a duration. */
export const readDelays = (text: string): number[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(part => {
      const [, count, unit] = /^(\d{1,5})([smh])$/.exec(part) ?? [];
      if (!count || !unit) throw new Error(`“${part}” is not a duration such as 30s, 5m or 1h.`);
      return Number(count) * units[unit as keyof typeof units];
    });

/** The inverse: in the largest unit without a remainder. */
export const delaysText = (delays: readonly number[]): string =>
  delays
    .map(seconds =>
      seconds % units.h === 0
        ? `${seconds / units.h}h`
        : seconds % units.m === 0
          ? `${seconds / units.m}m`
          : `${seconds}s`,
    )
    .join(', ');
