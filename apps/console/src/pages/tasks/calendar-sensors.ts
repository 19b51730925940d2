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

// Every place is a day, known by it. A pointer counts by itself; with keys it is the corner of what is held.
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

// Enter opens a task, so it is picked up with space alone.
const keyboardCodes = { start: ['Space'], cancel: ['Escape'], end: ['Space', 'Enter'] };

export const useCalendarSensors = () =>
  useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }), // a swipe scrolls
    useSensor(KeyboardSensor, { coordinateGetter: toNextDay, keyboardCodes }),
  );
