import { tableErrors } from '@stak/table';

// Undefined when the condition did not hold: somebody else was faster, or an index told of something that is over.
export async function unlessLost<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (tableErrors.includes(error) && error.code === 'table.condition_failed') return undefined;
    throw error;
  }
}
