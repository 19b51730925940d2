import {
  type CollisionDetection,
  type KeyboardCoordinateGetter,
  KeyboardSensor,
  MouseSensor,
  TouchSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import { addDays } from '../../text/days.ts';

export const dayStepOf: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

// Every drop target is a day. A pointer decides by its position, the keyboard by the corner of the dragged task.
export const findDay: CollisionDetection = input => {
  const { collisionRect, droppableRects, droppableContainers, pointerCoordinates } = input;
  const { x, y } = pointerCoordinates ?? { x: collisionRect.left + 4, y: collisionRect.top + 4 };
  const found = droppableContainers.find(({ id }) => {
    const rect = droppableRects.get(id);
    return rect && x >= rect.left && x < rect.right && y >= rect.top && y < rect.bottom;
  });
  return found ? [{ id: found.id }] : [];
};

const toNextDay: KeyboardCoordinateGetter = (event, { currentCoordinates, context }) => {
  const step = dayStepOf[event.code];
  if (step === undefined || !context.over) return undefined;
  event.preventDefault();
  const rect = context.droppableRects.get(addDays(String(context.over.id), step));
  return rect ? { x: rect.left + 6, y: rect.top + 6 } : currentCoordinates;
};

// Enter opens a task, so only Space picks it up.
const keyboardCodes = { start: ['Space'], cancel: ['Escape'], end: ['Space', 'Enter'] };

export const useCalendarSensors = () =>
  useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }), // a swipe scrolls
    useSensor(KeyboardSensor, { coordinateGetter: toNextDay, keyboardCodes }),
  );
