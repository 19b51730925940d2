import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Command = 'count' | 'finish';
export type Report = { answering: number; words: number };

export type Model = {
  url: string;
  // How many answers are in progress, and how many words they have sent in total.
  count(): Promise<Report>;
  finish(): Promise<void>; // sends the rest of every answer, and ends it
  close(): Promise<void>;
};

// A provider with OpenAI's protocol, in its own process. Sends a word now and then until `finish` is called.
export async function startModel(): Promise<Model> {
  const script = fileURLToPath(new URL('./model-script.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--import', 'tsx'] });
  const [url] = (await once(child, 'message')) as [string];
  const ask = async (command: Command): Promise<Report> => {
    child.send(command);
    const [report] = (await once(child, 'message')) as [Report];
    return report;
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
