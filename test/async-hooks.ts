import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

// Once a library has used an AsyncLocalStorage, hooks are called for every promise until it is disabled, which nobody
// does. A worker keeps its modules, so all files that follow would be slower.

type Storages = Set<AsyncLocalStorage<unknown>>;
const global = globalThis as { stakStorages?: Storages };
const storages = global.stakStorages ?? watch();

function watch(): Storages {
  const used: Storages = new Set();
  const { run } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...input: never) {
    used.add(this);
    return Reflect.apply(run, this, input);
  } as typeof run;
  global.stakStorages = used;
  return used;
}

afterAll(() => {
  for (const storage of storages) storage.disable();
  storages.clear();
});
