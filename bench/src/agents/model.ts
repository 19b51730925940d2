import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Wish = 'count' | 'finish';
export type Told = { answering: number; words: number };

export type Model = {
  url: string;
  // How many answers it is giving at the moment, and how many words it has said in all of them.
  count(): Promise<Told>;
  finish(): Promise<void>; // says the rest of every answer, and ends it
  close(): Promise<void>;
};

// A provider with OpenAI's protocol, in a process of its own. It says a word now and then until it is told to finish.
export async function startModel(): Promise<Model> {
  const script = fileURLToPath(new URL('./model-script.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--import', 'tsx'] });
  const [url] = (await once(child, 'message')) as [string];
  const ask = async (wish: Wish): Promise<Told> => {
    child.send(wish);
    const [told] = (await once(child, 'message')) as [Told];
    return told;
  };
  return {
    url,
    count: () => ask('count'),
    finish: async () => void (await ask('finish')),
    async close() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
