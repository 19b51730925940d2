import * as limits from './limits.ts';

// How many exchanges may be under way, so that slow destinations cannot take the places of quick ones. A connection
// nobody has heard from yet is a newcomer: it may try one at a time, among the quick ones. An exchange that lasts
// longer than expected is moved to the slow ones, whether or not there is room.

export type Pace = 'quick' | 'newcomer' | 'slow';
export type Slot = { pace: Pace; startedMs: number };

export type Slots = {
  hasRoom(pace: Pace): boolean;
  take(pace: Pace, nowMs: number): Slot;
  giveBack(slot: Slot): void;
  // Moves what has lasted too long. True if that made room.
  sortOut(nowMs: number): boolean;
  inUse(): number;
};

export function createSlots(): Slots {
  const taken = new Set<Slot>();
  const used: Record<Pace, number> = { quick: 0, newcomer: 0, slow: 0 };
  return {
    hasRoom(pace) {
      if (pace === 'slow') return used.slow < limits.slowSlots;
      if (used.quick + used.newcomer >= limits.quickSlots) return false;
      return pace === 'quick' || used.newcomer < limits.newcomerSlots;
    },
    take(pace, startedMs) {
      const slot = { pace, startedMs };
      taken.add(slot);
      used[pace] += 1;
      return slot;
    },
    giveBack(slot) {
      if (taken.delete(slot)) used[slot.pace] -= 1;
    },
    sortOut(nowMs) {
      let isMoved = false;
      for (const slot of taken) {
        if (nowMs - slot.startedMs < limits.slowMs) break; // a set keeps the order they were taken in
        if (slot.pace === 'slow') continue;
        used[slot.pace] -= 1;
        used.slow += 1;
        slot.pace = 'slow';
        isMoved = true;
      }
      return isMoved;
    },
    inUse: () => taken.size,
  };
}
