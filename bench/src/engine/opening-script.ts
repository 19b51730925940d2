import { createEngine } from '@stak/engine';

// How long the engine takes to open a folder and to read its tables.
const start = performance.now();
const engine = await createEngine({ path: process.argv[2]! });
await engine.execute('ListTables', {});
const elapsedMs = performance.now() - start;
await engine.close();
process.send!(elapsedMs);
process.disconnect();
