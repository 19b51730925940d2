import { Group, Text } from '@mantine/core';
import { type PointerEvent, useMemo, useState } from 'react';
import { counted, formatTime } from '../../text/format.ts';
import type { EventsSearch } from './address.ts';
import { type Bin, binsOf, spanOf } from './event-bins.ts';
import type { EventRow } from './queries.ts';

type Props = {
  rows: readonly EventRow[];
  onRange: (range: Pick<EventsSearch, 'from' | 'to' | 'last'>) => void;
};

const height = 44;
const columnMostPx = 48;
const gap = 0.2; // of a column

// The time as the fields of the filter have it: local, to the second.
function localTime(ms: number): string {
  const moment = new Date(ms);
  return new Date(ms - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * The events of the list over time. Dragging across columns filters by their time; the filter's own fields do the same
 * for the keyboard.
 */
export function EventHistogram({ rows, onRange }: Props) {
  const bins = useMemo(() => binsOf(rows), [rows]);
  const [brush, setBrush] = useState<{ from: number; to: number }>();
  const [pointed, setPointed] = useState<number>();
  if (bins.length < 2) return null;
  const most = Math.max(...bins.map(bin => bin.count));
  const failed = bins.reduce((sum, bin) => sum + bin.failed, 0);
  const columnAt = ({ currentTarget, clientX }: PointerEvent<SVGSVGElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(bins.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bins.length)));
  };
  const finish = () => {
    if (brush === undefined) return;
    const [first, last] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)];
    setBrush(undefined);
    onRange({ from: localTime(bins[first]!.fromMs), to: localTime(bins[last]!.toMs), last: undefined });
  };
  const isBrushed = (at: number) =>
    brush !== undefined && at >= Math.min(brush.from, brush.to) && at <= Math.max(brush.from, brush.to);
  return (
    <div className="stak-histogram">
      <svg
        viewBox={`0 0 ${bins.length} ${height}`}
        preserveAspectRatio="none"
        style={{ maxWidth: bins.length * columnMostPx }}
        role="img"
        aria-label={`Events by ${spanOf(bins[0]!)}: ${counted(rows.length, 'event')}, ${failed} of them failed`}
        onPointerDown={event => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setBrush({ from: columnAt(event), to: columnAt(event) });
        }}
        onPointerMove={event => {
          const at = columnAt(event);
          setPointed(at);
          if (brush) setBrush({ ...brush, to: at });
        }}
        onPointerLeave={() => setPointed(undefined)}
        onPointerUp={finish}
        onPointerCancel={() => setBrush(undefined)}
      >
        {bins.map((bin, at) => (
          <Column key={bin.fromMs} bin={bin} at={at} most={most} isBrushed={isBrushed(at)} />
        ))}
      </svg>
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed" className="stak-figures">
          {tell(bins[pointed ?? -1]) ?? `By ${spanOf(bins[0]!)}. Drag to choose a time.`}
        </Text>
        <Text size="xs" c="dimmed" className="stak-figures" visibleFrom="sm">
          {formatTime(bins[0]!.fromMs)} – {formatTime(bins.at(-1)!.toMs)}
        </Text>
      </Group>
    </div>
  );
}

const tell = (bin: Bin | undefined): string | undefined =>
  bin && `${formatTime(bin.fromMs)}: ${counted(bin.count, 'event')}, ${bin.failed} failed`;

function Column({ bin, at, most, isBrushed }: { bin: Bin; at: number; most: number; isBrushed: boolean }) {
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * (height - 2)));
  const whole = scale(bin.count);
  const red = scale(bin.failed);
  const span = { x: at + gap / 2, width: 1 - gap };
  return (
    <g data-brushed={isBrushed || undefined}>
      <rect className="stak-histogram-back" x={at} width={1} y={0} height={height} />
      <rect className="stak-histogram-good" {...span} y={height - whole} height={whole - red} />
      <rect className="stak-histogram-bad" {...span} y={height - red} height={red} />
    </g>
  );
}
