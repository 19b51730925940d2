import { type Templates, writeTemplates } from '../tasks/stored-tasks.ts';
import { openTasks } from '../tasks/tasks.ts';

// Tasks as the service writes them, to be copied.
export async function readTemplates(): Promise<Templates> {
  const service = await openTasks(':memory:');
  try {
    return await writeTemplates(service);
  } finally {
    await service.close();
  }
}
