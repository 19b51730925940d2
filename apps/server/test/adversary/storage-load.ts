import type { Fixture, Load } from './fixture.ts';

// The storage of the account, which is counted from streams, against a count of everything that is stored.

const countedWithinMs = 30_000; // after it was asked for
const lookAgainMs = 2_000;

export async function createStorageLoad(fixture: Fixture): Promise<Load> {
  const { nodes, sleep, pick } = fixture;

  const read = async () => {
    for (;;) {
      const use = await pick(nodes()).services.storage.read('usr_ann');
      if (use.isCounted && !use.isBehind) return use;
      await sleep(lookAgainMs);
    }
  };

  return {
    name: 'storage',
    users: [],
    async check() {
      const { bytes, items } = await read();
      await pick(nodes()).services.storage.requestRecount();
      await sleep(countedWithinMs);
      const counted = await read();
      if (counted.bytes === bytes && counted.items === items) return [];
      const what = `storage is ${items} items of ${bytes} bytes, and counted again ${counted.items} of ${counted.bytes}`;
      return [{ what, about: ['stak-storage'] }];
    },
  };
}
