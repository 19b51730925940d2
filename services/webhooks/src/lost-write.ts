import { isConflict } from '@stak/table';

// Undefined if the condition did not hold: another worker was first, or an index was out of date.
export async function unlessLost<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
}
