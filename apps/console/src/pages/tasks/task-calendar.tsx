import { type Announcements, DndContext, type DragEndEvent, DragOverlay } from '@dnd-kit/core';
import { ActionIcon, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Heading } from '../../components/display/section.tsx';
import { complain } from '../../components/feedback/complaint.ts';
import { Failure } from '../../components/feedback/failure.tsx';
import { addMonths, firstWeekdayIn, formatDay, monthOf, weeksOf } from '../../text/days.ts';
import { chipMarks } from './calendar-chip.tsx';
import { findDay, useCalendarSensors } from './calendar-sensors.ts';
import { DayPanel } from './day-panel.tsx';
import { dayFormat, MonthGrid, monthFormat } from './month-grid.tsx';
import { openFirst } from './open-first.ts';
import { type Task, useTaskActions, useTasksDue } from './task-queries.ts';
import { useToday, useZone } from './today.ts';

const route = getRouteApi('/inside/tasks');

// From the resolved locale, because navigator.language may be invalid.
const firstWeekday = firstWeekdayIn(new Intl.DateTimeFormat().resolvedOptions().locale);
const instructions = {
  draggable:
    'Press enter to open the task. Press space to pick it up, the arrow keys to change its day, space to drop it.',
};

// The tasks due in a month. They can be moved to another day by dragging or with the keyboard.
export default function TaskCalendar({ onOpen }: { onOpen: (task: Task) => void }) {
  const today = useToday();
  const { day: chosen = today } = route.useSearch();
  const navigate = route.useNavigate();
  const setChosen = (day: string) => void navigate({ search: before => ({ ...before, day }), replace: true });
  const [heldId, setHeldId] = useState<string>();
  const sensors = useCalendarSensors();
  const { update } = useTaskActions();
  const month = monthOf(chosen);
  const weeks = weeksOf(month, firstWeekday);
  const due = useTasksDue(weeks[0]![0]!, weeks.at(-1)!.at(-1)!);
  const tasks = due.data?.tasks ?? [];
  const tasksOn = (day: string) => openFirst(tasks.filter(task => task.due_date === day));
  const find = (id: unknown) => tasks.find(task => task.task_id === id);
  const held = find(heldId);
  const letGo = ({ active, over }: DragEndEvent) => {
    setHeldId(undefined);
    const task = find(active.id);
    const due_date = over && String(over.id);
    if (task && due_date && due_date !== task.due_date) update({ task_id: task.task_id, due_date });
  };
  const sayDay = (id: unknown) => (id === undefined ? 'no day' : formatDay(String(id), dayFormat));
  const announcements: Announcements = {
    onDragStart: ({ active }) => `Picked up ${find(active.id)?.title}.`,
    onDragOver: ({ over }) => `Over ${sayDay(over?.id)}.`,
    onDragEnd: ({ active, over }) =>
      over ? `${find(active.id)?.title} is due on ${sayDay(over.id)}.` : 'It stays where it was.',
    onDragCancel: ({ active }) => `${find(active.id)?.title} stays where it was.`,
  };
  return (
    <Stack gap="sm">
      <MonthBar month={month} onGo={step => setChosen(addMonths(`${month}-01`, step))} onToday={setChosen} />
      {due.error && <Failure error={due.error} onRetry={() => due.refetch()} />}
      <div className="stak-calendar" aria-busy={due.isPending}>
        <DndContext
          sensors={sensors}
          collisionDetection={findDay}
          accessibility={{ announcements, screenReaderInstructions: instructions }}
          onDragStart={({ active }) => setHeldId(String(active.id))}
          onDragCancel={() => setHeldId(undefined)}
          onDragEnd={letGo}
        >
          <MonthGrid
            weeks={weeks}
            month={month}
            chosen={chosen}
            tasksOn={tasksOn}
            onChoose={setChosen}
            onOpen={onOpen}
          />
          <DragOverlay>
            {held && (
              <div className="stak-chip" data-lifted {...chipMarks(held, today)}>
                {held.title}
              </div>
            )}
          </DragOverlay>
        </DndContext>
        <DayPanel day={chosen} tasks={tasksOn(chosen)} onOpen={onOpen} />
      </div>
      {due.data?.isCut && (
        <Text size="sm" c="dimmed">
          Not all tasks fit here. The list shows them all.
        </Text>
      )}
      <ZoneNote />
    </Stack>
  );
}

type BarProps = { month: string; onGo: (step: number) => void; onToday: (today: string) => void };

function MonthBar({ month, onGo, onToday }: BarProps) {
  const today = useToday();
  return (
    <Group justify="space-between">
      <Heading aria-live="polite">{formatDay(`${month}-01`, monthFormat)}</Heading>
      <Group gap="xs">
        <ActionIcon variant="default" size="lg" aria-label="Previous month" onClick={() => onGo(-1)}>
          <IconChevronLeft size={18} />
        </ActionIcon>
        <Button variant="default" onClick={() => onToday(today)}>
          Today
        </Button>
        <ActionIcon variant="default" size="lg" aria-label="Next month" onClick={() => onGo(1)}>
          <IconChevronRight size={18} />
        </ActionIcon>
      </Group>
    </Group>
  );
}

const showZone = (zone: string): string => zone.replaceAll('_', ' ');

// Reminders and overdue tasks use the same time zone.
function ZoneNote() {
  const { zone, browserZone, moveTo } = useZone();
  return (
    <Text size="sm" c="dimmed">
      Days in {showZone(zone)}.{' '}
      {moveTo && zone !== browserZone && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          onClick={() => moveTo(browserZone).catch(complain)}
        >
          Use {showZone(browserZone)}
        </Anchor>
      )}
    </Text>
  );
}
