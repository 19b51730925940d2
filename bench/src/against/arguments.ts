import { parseArgs } from 'node:util';

// npm run bench -- against COMMIT [webhooks|inbox|agents|tasks ...] [--quick] [--rounds N] [--workers N] [--gate FACTOR]

const services = ['webhooks', 'inbox', 'agents', 'tasks'] as const;
export type Service = (typeof services)[number];

export type Arguments = {
  baseline: string; // a commit, `pinned`, or the path of another checkout
  services: readonly Service[];
  quick: boolean;
  rounds?: number;
  workers?: number;
  gate?: number;
};

const usage = `usage: npm run bench -- against COMMIT|PATH|pinned [${services.join('|')} ...] [--quick] [--rounds N] [--workers N] [--gate FACTOR]`;

export function parseArguments(args: string[]): Arguments {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean' },
      rounds: { type: 'string' },
      workers: { type: 'string' },
      gate: { type: 'string' },
    },
  });
  const [baseline, ...names] = positionals;
  if (!baseline || names.some(name => !services.includes(name as Service))) throw new Error(usage);
  return {
    baseline,
    services: services.filter(service => names.length === 0 || names.includes(service)),
    quick: values.quick ?? false,
    rounds: numberOf('--rounds', values.rounds, Number.isInteger),
    workers: numberOf('--workers', values.workers, Number.isInteger),
    gate: numberOf('--gate', values.gate, Number.isFinite),
  };
}

function numberOf(option: string, text: string | undefined, isValid: (value: number) => boolean) {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!isValid(value) || value <= 0) throw new Error(`${option} takes a positive number, not ${text}`);
  return value;
}
