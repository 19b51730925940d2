import {
  type DestinationStream,
  type Level,
  type LoggerOptions,
  type Logger as PinoLogger,
  pino,
} from 'pino';
import { type Clock, systemClock } from './clock.ts';
import { createRedact } from './redact.ts';
import { isTracing, traceIds } from './tracing.ts';

/** A logger of pino. */
export type Logger = PinoLogger;

/** Settings of `createLogger`: the lowest level, and where lines go (standard output unless given). */
export type LoggerSettings = {
  clock?: Clock;
  level?: Level | 'silent';
  destination?: DestinationStream; // standard output if absent
  redact?: readonly string[]; // names to hide besides the ones that are always hidden
  base?: Record<string, unknown>; // on every line
};

// Spelling out a time costs as much as the rest of a line, and many lines have the same millisecond.
function createTimestamp(clock: Clock): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const nowMs = clock.now();
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      text = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return text;
  };
}

/**
 * A pino logger that prints no secret it can see: not in the line's object, an error's details, a child's bindings or
 * a %o argument. It cannot see into the text of a message.
 */
export function createLogger(settings: LoggerSettings = {}): Logger {
  const clock = settings.clock ?? systemClock;
  const redact = createRedact(settings.redact);
  const redactObject = (value: object) => redact(value) as Record<string, unknown>;

  const options: LoggerOptions = {
    level: settings.level ?? 'info',
    base: settings.base ? redactObject(settings.base) : null,
    timestamp: createTimestamp(clock),
    ...(isTracing() && {
      mixin: () => traceIds() ?? {},
      mixinMergeStrategy: (line: object, ids: object) => ({ ...ids, ...redactObject(line) }),
    }),
    formatters: {
      level: label => ({ level: label }),
      log: redactObject,
    },
    serializers: { err: (error: unknown) => error }, // the redactor has spelled it out already
    hooks: {
      logMethod(args, method) {
        for (let i = 1; i < args.length; i++) args[i] = redact(args[i]);
        method.apply(this, args);
      },
    },
  };
  const logger = settings.destination ? pino(options, settings.destination) : pino(options);

  // Pino passes a child's bindings through no formatter. Children inherit this method from their parent.
  const { child } = logger;
  logger.child = function redactedChild(this: Logger, bindings: object, childOptions?: object) {
    return child.call(this, redactObject(bindings), childOptions);
  } as Logger['child'];
  return logger;
}
