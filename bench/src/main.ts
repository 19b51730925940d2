import { parseArgs } from 'node:util';
import { runAgainst } from './against/bench.ts';
import type { BenchModule } from './bench.ts';
import { describeVerdict, failures } from './gates.ts';

// npm run bench -- NAME [--gate] [--quick] [--only a,b]
// npm run bench -- against COMMIT, with options of its own

const usage =
  'usage: npm run bench -- NAME [--gate] [--quick] [--only a,b]   (NAME: engine, table, http, inbox, webhooks, tasks, lake, agents, memory, vectors, backup, archive, neighbours; or against COMMIT)';

async function main(argv: string[]): Promise<void> {
  if (argv[0] === 'against') {
    if (!(await runAgainst(argv.slice(1)))) process.exitCode = 1;
    return;
  }
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { gate: { type: 'boolean' }, quick: { type: 'boolean' }, only: { type: 'string' } },
  });
  const [name] = positionals;
  if (positionals.length !== 1 || !name || !/^[a-z][a-z-]*$/.test(name)) throw new Error(usage);
  if (values.quick && values.gate) throw new Error('--quick measures too little to judge; leave out --gate');
  const { run } = (await import(`./${name}/bench.ts`)) as BenchModule;
  const verdicts = await run({ quick: values.quick ?? false, only: values.only?.split(',') ?? [] });
  if (values.quick) return;
  console.log(`\n${verdicts.map(describeVerdict).join('\n')}`);
  const failed = failures(verdicts);
  if (!values.gate || failed.length === 0) return;
  console.error(`\n${failed.length} of ${verdicts.length} targets failed:`);
  for (const verdict of failed) console.error(`  ${describeVerdict(verdict)}`);
  process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
