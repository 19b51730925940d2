import type { Contestant } from '../contestant.ts';
import { openAgents } from './agents.ts';
import { createRecorder, type EngineCall, repeatTurn, send } from './recording.ts';

// Two conversations of the same length: one is continued through the service, the other by the engine's calls alone.

const turnsBefore = 50; // the window is full
const mostPerMs = 8; // turns: their calls are prepared before the round, for as many as it can have

export async function start(): Promise<Contestant> {
  const recorder = createRecorder();
  const { client, begin, say, close } = await openAgents(recorder.watch);
  const [spoken, repeated] = [await begin(), await begin()];
  for (let i = 0; i < turnsBefore; i++) for (const id of [spoken, repeated]) await say(id);
  const repeat = repeatTurn(await recorder.record(() => say(repeated)));

  let made = 0;
  let ready: EngineCall[][] = []; // the next one last
  return {
    prepare(operation, durationMs) {
      if (operation !== 'engine') return;
      ready = Array.from({ length: durationMs * mostPerMs }, (_, i) => repeat(made + 1 + i)).reverse();
    },
    operations: {
      turn: () => say(spoken),
      engine: async () => {
        for (const call of ready.pop() ?? fail()) await send(client, call);
        made += 1;
      },
    },
    close,
  };
}

function fail(): never {
  throw new Error('more turns than were made ready');
}
