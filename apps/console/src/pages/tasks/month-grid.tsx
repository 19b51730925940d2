import { useDroppable } from '@dnd-kit/core';
import { VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { addDays, addMonths, formatDay, monthOf, startOfWeek, weekdayOf } from '../../text/days.ts';
import { counted } from '../../text/format.ts';
import { CalendarChip, chipMarks } from './calendar-chip.tsx';
import { dayStepOf } from './calendar-sensors.ts';
import type { Task } from './task-queries.ts';
import { useToday } from './today.ts';

const chipsShown = 3; // a day with more shows their number, and all of them when it is selected

type Props = {
  weeks: readonly (readonly string[])[];
  month: string;
  chosen: string;
  tasksOn: (day: string) => readonly Task[];
  onChoose: (day: string) => void;
  onOpen: (task: Task) => void;
};

function dayAfterKey(day: string, key: string, firstWeekday: number): string | undefined {
  const step = dayStepOf[key];
  if (step !== undefined) return addDays(day, step);
  if (key === 'PageUp') return addMonths(day, -1);
  if (key === 'PageDown') return addMonths(day, 1);
  const start = startOfWeek(day, firstWeekday);
  return { Home: start, End: addDays(start, 6) }[key];
}

// Tab reaches one day; the arrow keys move from there, also past the end of the month.
export function MonthGrid({ weeks, month, chosen, tasksOn, onChoose, onOpen }: Props) {
  const wantsFocus = useRef(false);
  const chosenButton = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another day has another button
  useEffect(() => {
    if (wantsFocus.current) chosenButton.current?.focus();
    wantsFocus.current = false;
  }, [chosen]);
  const goOn = (event: KeyboardEvent<HTMLButtonElement>) => {
    const day = dayAfterKey(chosen, event.key, weekdayOf(weeks[0]![0]!));
    if (day === undefined) return;
    event.preventDefault();
    wantsFocus.current = true;
    onChoose(day);
  };
  return (
    <table className="stak-month">
      <VisuallyHidden component="caption">
        {formatDay(`${month}-01`, monthFormat)}. The arrow keys go from day to day.
      </VisuallyHidden>
      <thead>
        <tr>
          {weeks[0]!.map(day => (
            <th key={day} scope="col" abbr={formatDay(day, longWeekday)}>
              {formatDay(day, shortWeekday)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map(week => (
          <tr key={week[0]}>
            {week.map(day => (
              <Day
                key={day}
                day={day}
                isOutside={monthOf(day) !== month}
                isChosen={day === chosen}
                tasks={tasksOn(day)}
                buttonRef={day === chosen ? chosenButton : undefined}
                onKeyDown={goOn}
                onChoose={() => onChoose(day)}
                onOpen={onOpen}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const longWeekday = { weekday: 'long' } as const;
const shortWeekday = { weekday: 'short' } as const;
export const monthFormat = { month: 'long', year: 'numeric' } as const;
export const dayFormat = { weekday: 'long', day: 'numeric', month: 'long' } as const;

const countTasks = (count: number): string => (count === 0 ? 'no task' : counted(count, 'task'));

type DayProps = {
  day: string;
  isOutside: boolean;
  isChosen: boolean;
  tasks: readonly Task[];
  buttonRef: React.Ref<HTMLButtonElement> | undefined;
  onKeyDown: (event: KeyboardEvent<HTMLButtonElement>) => void;
  onChoose: () => void;
  onOpen: (task: Task) => void;
};

function Day({ day, isOutside, isChosen, tasks, buttonRef, onKeyDown, onChoose, onOpen }: DayProps) {
  const today = useToday();
  const { setNodeRef, isOver } = useDroppable({ id: day });
  const shown = tasks.length > chipsShown ? tasks.slice(0, chipsShown - 1) : tasks;
  const more = tasks.length - shown.length;
  return (
    <td
      ref={setNodeRef}
      className="stak-day"
      data-outside={isOutside || undefined}
      data-over={isOver || undefined}
      data-chosen={isChosen || undefined}
    >
      <button
        ref={buttonRef}
        type="button"
        className="stak-day-number"
        tabIndex={isChosen ? 0 : -1}
        aria-label={`${formatDay(day, dayFormat)}, ${countTasks(tasks.length)}`}
        aria-pressed={isChosen}
        aria-current={day === today ? 'date' : undefined}
        onClick={onChoose}
        onKeyDown={onKeyDown}
      >
        {Number(day.slice(8))}
      </button>
      <div className="stak-chips" data-roomy={tasks.length < chipsShown || undefined}>
        {shown.map(task => (
          <CalendarChip key={task.task_id} task={task} onOpen={onOpen} />
        ))}
        {more > 0 && (
          <button type="button" className="stak-more" tabIndex={-1} onClick={onChoose}>
            {more} more
          </button>
        )}
      </div>
      <div className="stak-dots" aria-hidden>
        {tasks.slice(0, 4).map(task => (
          <span key={task.task_id} className="stak-dot" {...chipMarks(task, today)} />
        ))}
      </div>
    </td>
  );
}
