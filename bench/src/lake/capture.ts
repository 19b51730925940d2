import { runScript } from '../child-script.ts';

export type CaptureSettings = { perSecond: number; warmUpMs: number; durationMs: number };
export type Capture = {
  perSecond: number; // the intended rate
  written: number;
  seconds: number; // how long the writes took
  lagP50Ms: number; // how far the lake was behind during the writes
  lagP95Ms: number;
};

// Capture and compaction while the table changes continuously, in one process.
export const measureCapture = (folder: string, settings: CaptureSettings): Promise<Capture> =>
  runScript<Capture>(import.meta.resolve('./capture-script.ts'), [folder, JSON.stringify(settings)]);
