type Reading<T> = { answer: Promise<T>; next?: Promise<T> };

/**
 * Lets concurrent calls for the same key share a read. A call during a read waits for the next one, which starts after
 * it: so every caller gets a result as new as if they had read alone, and a busy key has one read at a time. The result
 * is shared, so callers must not change it.
 *
 *     const readSettings = readTogether((tenantId: string) => store.get(settings, { tenantId }, { consistent: true }));
 */
export function readTogether<Key, T>(
  read: (key: Key) => Promise<T>,
  nameOf: (key: Key) => string = String,
): (key: Key) => Promise<T> {
  const readings = new Map<string, Reading<T>>();

  function begin(key: Key, name: string): Promise<T> {
    const reading: Reading<T> = { answer: read(key) };
    readings.set(name, reading);
    const end = () => {
      if (readings.get(name) === reading) readings.delete(name);
    };
    reading.answer.then(end, end);
    return reading.answer;
  }

  return key => {
    const name = nameOf(key);
    const reading = readings.get(name);
    if (!reading) return begin(key, name);
    const again = () => begin(key, name);
    reading.next ??= reading.answer.then(again, again);
    return reading.next;
  };
}
