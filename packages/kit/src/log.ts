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

/** A pino logger. */
export type Logger = PinoLogger;

/** Settings of `createLogger`: the lowest level, and where lines go (default: standard output). */
export type LoggerSettings = {
  clock?: Clock;
  level?: Level | 'silent';
  destination?: DestinationStream; // standard output if absent
  redact?: readonly string[]; // names to hide in addition to those that are always hidden
  base?: Record<string, unknown>; // on every line
};

// Formatting a time costs as much as the rest of a line, and many lines have the same millisecond.
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
 * Creates a pino logger that hides secrets in the line's object, an error's details, a child's bindings and %o
 * arguments. It cannot hide secrets in the text of a message.
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
    serializers: { err: (error: unknown) => error }, // the redactor has serialised it already
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
