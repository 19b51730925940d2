import { runCommand } from './command-line.ts';
import { explain } from './errors.ts';
import { endWithOutput } from './signals.ts';

endWithOutput(explain);
await runCommand(process.argv);
