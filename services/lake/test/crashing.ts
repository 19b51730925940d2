// A process that is killed at a chosen step. Every call of a port has two of them: before it is made, and after it
// was made but before its answer arrives. From then on nothing is answered any more.

const never = new Promise<never>(() => {});

export function crashing(lifetime = Number.POSITIVE_INFINITY) {
  let steps = 0;
  let isDead = false;
  let last = '';
  let announce = () => {};
  const death = new Promise<void>(resolve => {
    announce = resolve;
  });

  const survive = (call: string): boolean => {
    if (!isDead && steps++ === lifetime) {
      isDead = true;
      last = call;
      announce();
    }
    return !isDead;
  };

  function wrap<T extends object>(port: T, unwrapped: readonly string[] = []): T {
    const wrapped = Object.entries(port).map(([name, method]) => {
      if (unwrapped.includes(name)) return [name, method];
      const call = (...args: unknown[]) => {
        const result = (method as (...args: unknown[]) => unknown)(...args);
        return Symbol.asyncIterator in Object(result) ? list(name, result as AsyncIterable<unknown>) : result;
      };
      const guarded = async (...args: unknown[]) => {
        if (!survive(`before ${name}`)) return never;
        const answer = await call(...args);
        return survive(`after ${name}`) ? answer : never;
      };
      return [name, name === 'list' ? call : guarded];
    });
    return Object.fromEntries(wrapped) as T;
  }

  async function* list(name: string, found: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    if (!survive(`before ${name}`)) await never;
    yield* found;
    if (!survive(`after ${name}`)) await never;
  }

  return { wrap, death, steps: () => steps, isDead: () => isDead, lastCall: () => last };
}
