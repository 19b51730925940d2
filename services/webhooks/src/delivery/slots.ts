import * as limits from '../limits.ts';

export type Pace = 'quick' | 'new' | 'slow';
export type Slot = { pace: Pace; startedMs: number };

// Limits how many requests are in flight, so that slow destinations cannot use up the slots of quick ones. A connection
// that has not been tried yet is `new`: it gets one of the quick slots, for one request at a time, and quick ones leave
// some of them free for it. A request that takes longer than expected is reclassified as slow, whether or not there is
// room.
export function createSlots() {
  const taken = new Set<Slot>();
  const used: Record<Pace, number> = { quick: 0, new: 0, slow: 0 };
  return {
    hasRoom(pace: Pace): boolean {
      if (pace === 'slow') return used.slow < limits.slowSlots;
      if (used.quick + used.new >= limits.quickSlots) return false;
      return pace === 'new'
        ? used.new < limits.newSlots
        : used.quick < limits.quickSlots - limits.newSlotsKept;
    },
    take(pace: Pace, startedMs: number): Slot {
      const slot = { pace, startedMs };
      taken.add(slot);
      used[pace] += 1;
      return slot;
    },
    release(slot: Slot): void {
      if (taken.delete(slot)) used[slot.pace] -= 1;
    },
    // True if that made room.
    reclassify(nowMs: number): boolean {
      let isMoved = false;
      for (const slot of taken) {
        if (nowMs - slot.startedMs < limits.slowMs) break; // a set keeps the order of insertion
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
