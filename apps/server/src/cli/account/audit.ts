import { connectLate, defineCommand, type FlagsOf, serverOption } from '../action.ts';

const actions = { list, export: exportAll };

const options = {
  ...serverOption,
  '--json': 'list: print JSON',
} as const;
type Flags = FlagsOf<typeof options>;

export const registerAudit = defineCommand('audit <action>', {
  title: 'The audit trail of your organisation',
  actions: {
    list: 'Show the newest hundred entries',
    export: 'Export all entries of the last year, one JSON object per line',
  },
  options,
  examples: ['stak audit export > audit.ndjson'],
  load: async () => ({ actions }),
});

async function list(flags: Flags): Promise<void> {
  const { client, printJson, printTable } = await connectLate(flags);
  const { data } = await client.accounts.listAudit({ limit: 100 });
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(line => [
    line.at,
    line.action,
    line.by ?? line.via,
    line.target ?? '',
    line.detail ?? '',
  ]);
  printTable([['at', 'action', 'by', 'target', 'detail'], ...rows], 'Nothing has been done yet');
}

async function exportAll(flags: Flags): Promise<void> {
  const { client } = await connectLate(flags);
  const { data } = await client.accounts.exportAudit();
  process.stdout.write(data);
}
