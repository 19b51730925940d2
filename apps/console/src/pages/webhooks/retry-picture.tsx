import { Text } from '@mantine/core';
import { counted, formatLag } from '../../text/format.ts';

const width = 640;
const left = 24;
const right = 40;
// A logarithmic scale fits half a minute and a day on one line.
const positionOf = (seconds: number, totalS: number): number =>
  left + (Math.log1p(seconds) / Math.log1p(Math.max(totalS, 1))) * (width - left - right);

/** The attempts on a timeline. */
export function RetryPicture({ delaysS }: { delaysS: readonly number[] }) {
  const attempts = [0];
  for (const delay of delaysS) attempts.push(attempts.at(-1)! + delay);
  const totalS = attempts.at(-1)!;
  const summary = `${counted(attempts.length, 'attempt')}${totalS > 0 ? ` within ${formatLag(totalS * 1000)}` : ''}`;
  const said = attempts.map(
    (at, index) => `${index + 1} ${at === 0 ? 'immediately' : `after ${formatLag(at * 1000)}`}`,
  );
  return (
    <div>
      <svg
        viewBox={`0 0 ${width} 64`}
        className="stak-retries"
        role="img"
        aria-label={`${summary}: ${said.join(', ')}`}
      >
        <line x1={left} x2={totalS === 0 ? left : positionOf(totalS, totalS)} y1={30} y2={30} />
        {attempts.map((at, index) => {
          const x = totalS === 0 ? left : positionOf(at, totalS);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is known by its number
            <g key={index}>
              <circle cx={x} cy={30} r={9} />
              <text x={x} y={34} className="stak-retries-number">
                {index + 1}
              </text>
              <text x={x} y={index % 2 === 0 ? 58 : 12}>
                {at === 0 ? 'at once' : formatLag(at * 1000)}
              </text>
            </g>
          );
        })}
      </svg>
      <Text size="xs" c="dimmed">
        {summary}. The line is not to scale: each step is a multiple of the time before.
      </Text>
    </div>
  );
}
