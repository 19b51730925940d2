import { useDraggable } from '@dnd-kit/core';
import { useMay } from '../../queries/permissions.ts';
import { isLate } from './task-card.tsx';
import type { Task } from './task-queries.ts';
import { useToday } from './today.ts';

// The look of a task in the calendar.
export function chipMarks(task: Task, today: string) {
  const late = isLate(task, today);
  return {
    'data-priority': task.priority,
    'data-done': task.status === 'completed' || undefined,
    'data-late': late || undefined,
  };
}

export function CalendarChip({ task, onOpen }: { task: Task; onOpen: (task: Task) => void }) {
  const today = useToday();
  const { attributes, listeners, setNodeRef, isDragging } = useDraggable({
    id: task.task_id,
    disabled: !useMay()('tasks.update'),
  });
  const state = task.status === 'completed' ? ', done' : isLate(task, today) ? ', late' : '';
  return (
    <button
      ref={setNodeRef}
      type="button"
      className="stak-chip"
      data-held={isDragging || undefined}
      title={task.title}
      {...chipMarks(task, today)}
      {...attributes}
      {...listeners}
      aria-disabled={false} // it can be opened even if it cannot be moved
      aria-label={`${task.title}${state}`}
      onClick={() => onOpen(task)}
    >
      {task.title}
    </button>
  );
}
