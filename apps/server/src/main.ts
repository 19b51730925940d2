import { runCommand } from './cli/command-line.ts';
import { explain } from './config/errors.ts';
import { endWithOutput } from './process/signals.ts';

endWithOutput(explain);
await runCommand(process.argv);
