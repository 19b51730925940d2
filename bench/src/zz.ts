import { inDataFolder } from './data-folder.ts';
import { createCustomer } from './server/customer.ts';
import { startServerProcess } from './server/process.ts';
import { measureDelivery } from './webhooks/delivery.ts';
import { startDestination } from './webhooks/destination.ts';
const d = await startDestination();
await inDataFolder('zz', async f => {
  const b = performance.now();
  const server = await startServerProcess(f + '/a');
  const { client } = await createCustomer(server.url, { apiKeys: 0, sessions: 1, endUsers: 0 });
  const r = await measureDelivery(server.url, client, d, { rounds: 1, pace: { perSecond: 300, durationMs: 2000 }, warmUpMs: 2000, slowSources: 125, slowConnections: 8, slowEveryMs: 10_000, slowPace: { perSecond: 100, durationMs: 3000 } });
  console.log('RESULT', JSON.stringify(r), performance.now() - b);
  await server.close();
});
await d.close();
