import {
  type CollisionDetection,
  type DroppableContainer,
  type KeyboardCoordinateGetter,
  KeyboardSensor,
  MouseSensor,
  TouchSensor,
  type UniqueIdentifier,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import { cardBelow, nearestColumn, type Rect, type Slot } from './board-drop.ts';
import { columns, type TaskStatus } from './task-queries.ts';

// The data of a drop target on the board.
export type DropData = { kind: 'column' | 'card'; status: TaskStatus };

type Rects = ReadonlyMap<UniqueIdentifier, Rect>;
const dataOf = (container: DroppableContainer) => container.data.current as DropData;

function slotsOf(
  containers: readonly DroppableContainer[],
  rects: Rects,
  isWanted: (data: DropData) => boolean,
): Slot<UniqueIdentifier>[] {
  return containers
    .filter(container => isWanted(dataOf(container)))
    .flatMap(({ id }) => {
      const rect = rects.get(id);
      return rect ? [{ id, rect }] : [];
    })
    .toSorted((a, b) => a.rect.top - b.rect.top);
}

const cardsOf = (
  containers: readonly DroppableContainer[],
  rects: Rects,
  status: TaskStatus,
  heldId: UniqueIdentifier,
) =>
  slotsOf(containers, rects, data => data.kind === 'card' && data.status === status).filter(
    ({ id }) => id !== heldId,
  );

// A pointer decides by its position, the keyboard by the corner of the dragged card.
export const findDrop: CollisionDetection = input => {
  const { active, collisionRect, droppableContainers: containers, droppableRects: rects } = input;
  const point = input.pointerCoordinates ?? { x: collisionRect.left + 8, y: collisionRect.top + 2 };
  const column = nearestColumn(
    slotsOf(containers, rects, data => data.kind === 'column'),
    point,
  );
  if (!column) return [];
  const cards = cardsOf(containers, rects, column.id as TaskStatus, active.id);
  return [{ id: (cardBelow(cards, point) ?? column).id }];
};

const steps: Readonly<Record<string, { columns: number; cards: number }>> = {
  ArrowLeft: { columns: -1, cards: 0 },
  ArrowRight: { columns: 1, cards: 0 },
  ArrowUp: { columns: 0, cards: -1 },
  ArrowDown: { columns: 0, cards: 1 },
};

const clamp = (value: number, most: number): number => Math.min(most, Math.max(0, value));

// Arrow keys move up and down within a column, and left and right between columns.
const toNextDrop: KeyboardCoordinateGetter = (event, { active: heldId, currentCoordinates, context }) => {
  const step = steps[event.code];
  const { over, droppableContainers, droppableRects: rects } = context;
  if (!step || !over) return undefined;
  event.preventDefault();
  const containers = droppableContainers.getEnabled();
  const from = columns.findIndex(({ status }) => status === (over.data.current as DropData).status);
  const dropsIn = (index: number) => cardsOf(containers, rects, columns[index]!.status, heldId);
  const ids = [...dropsIn(from).map(({ id }) => id), columns[from]!.status];
  const to = clamp(from + step.columns, columns.length - 1);
  const cards = dropsIn(to);
  const at = clamp(ids.indexOf(over.id) + step.cards, cards.length);
  const column = rects.get(columns[to]!.status);
  const card = cards[at]?.rect;
  const last = cards.at(-1)?.rect;
  if (card) return { x: card.left, y: card.top };
  if (!column) return currentCoordinates;
  return { x: column.left + 8, y: last ? last.top + last.height + 4 : column.top + 40 };
};

export const useBoardSensors = () =>
  useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }), // a swipe scrolls
    useSensor(KeyboardSensor, { coordinateGetter: toNextDrop }),
  );
