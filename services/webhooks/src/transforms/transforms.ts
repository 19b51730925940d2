import { type Clock, systemClock } from '@stak/kit';
import type { RequestView } from '../filters/request-view.ts';
import { type CompiledFieldMap, compileFieldMap } from './field-map.ts';
import type { TransformOutcome } from './outcome.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import type { Transform } from './schema.ts';
import { describeEvent, readReply } from './script.ts';

export type { TransformFailureReason, TransformOutcome } from './outcome.ts';

export type Transforms = {
  // Never rejects. `lane` names who the work is for, an account for example: lanes take turns for the sandbox.
  run(transform: Transform, view: RequestView, lane: string): Promise<TransformOutcome>;
  close(): Promise<void>;
};

export type TransformsSettings = {
  clock?: Clock;
  threads?: number;
  scriptsWaiting?: number;
  scriptMs?: number;
};

// Threads and interpreter are loaded when the first script runs.
export function createTransforms(settings: TransformsSettings = {}): Transforms {
  const sandbox: Sandbox = createSandbox({ ...settings, clock: settings.clock ?? systemClock });
  const fieldMaps = new WeakMap<Transform, CompiledFieldMap>();

  return {
    async run(transform, view, lane) {
      if (transform.type === 'passthrough') return { ok: true, dropped: false, body: view.body };
      if (transform.type === 'javascript')
        return readReply(await sandbox.run({ code: transform.code, event: describeEvent(view) }, lane));
      const known = fieldMaps.get(transform);
      const fieldMap = known ?? compileFieldMap(transform);
      if (!known) fieldMaps.set(transform, fieldMap);
      return fieldMap(view);
    },
    close: () => sandbox.close(),
  };
}
