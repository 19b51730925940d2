import { inDataFolder } from './data-folder.ts';
import { createCustomer } from './server/customer.ts';
import { startServerProcess } from './server/process.ts';
import { measureDelivery } from './webhooks/delivery.ts';
import { startDestination } from './webhooks/destination.ts';
import { measureRetries } from './webhooks/retries.ts';
const d = await startDestination();
await inDataFolder('zz', async f => {
  const b = performance.now();
  const server = await startServerProcess(f + '/a');
  const { client } = await createCustomer(server.url, { apiKeys: 0, sessions: 1, endUsers: 0 });
  const r = await measureDelivery(server.url, client, d, { rounds: 1, pace: { perSecond: 100, durationMs: 2000 }, warmUpMs: 500, slowSources: 125, slowConnections: 8, slowPace: { perSecond: 50, durationMs: 3000 } });
  await server.close();
  console.log('RESULT', JSON.stringify(r), performance.now() - b);
  console.log('RESULT', JSON.stringify(await measureRetries(d, { retries: 5000, connections: 20, perSecond: 50, mostMs: 60_000 }, f + '/b')), performance.now() - b);
});
await d.close();
