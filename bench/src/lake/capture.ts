import { runScript } from '../child-script.ts';

export type CaptureSettings = { perSecond: number; warmUpMs: number; durationMs: number };
export type Capture = {
  perSecond: number; // that were to be written
  written: number;
  seconds: number; // that it took to write them
  lagP50Ms: number; // how far the lake was behind meanwhile
  lagP95Ms: number;
};

// Capture and compaction while the table changes all the time, in one process.
export const measureCapture = (folder: string, settings: CaptureSettings): Promise<Capture> =>
  runScript<Capture>(import.meta.resolve('./capture-script.ts'), [folder, JSON.stringify(settings)]);
