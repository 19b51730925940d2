import { mkdtempSync, rmSync } from 'node:fs';
import { openTasks } from './tasks/tasks.ts';
import { fillTasks } from './tasks/stored-tasks.ts';
import { measureCost } from './inbox/cost.ts';
const f = mkdtempSync('/work/main/bench/data/zz-');
try {
const t = await openTasks(f + '/t');
let b = performance.now(); let c = process.cpuUsage();
await fillTasks(t, 1, 20000);
console.log('tasks/s', 20000 / (performance.now() - b) * 1000, 'cpu us each', process.cpuUsage(c).user / 20000, process.cpuUsage(c).system / 20000);
await t.close();
b = performance.now(); c = process.cpuUsage();
await measureCost({ few: 10, many: 20000, fanOutTo: 10 }, f);
console.log('users/s', 20000 / (performance.now() - b) * 1000, 'cpu us each', process.cpuUsage(c).user / 20000);
} finally { rmSync(f, { recursive: true }); }
