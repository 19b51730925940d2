import type { Client } from '@stak/client';
import { note } from '../print.ts';

const progressMs = 500;

type Job = Awaited<ReturnType<Client['webhooks']['createJob']>>['data'];

/** Shows the progress of a job until it has ended. */
export async function waitForJob(client: Client, started: Job): Promise<void> {
  let job = started;
  while (job.state === 'running') {
    await new Promise(resolve => setTimeout(resolve, progressMs));
    ({ data: job } = await client.webhooks.readJob({ jobId: job.jobId }));
    note(`${job.matched} events so far`);
  }
  console.log(`${job.state}: ${job.matched} events, ${job.deliveries} deliveries are due`);
}
