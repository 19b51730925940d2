import type { CAC } from 'cac';
import { declareActions, loadConnection, runAction } from '../action.ts';
import type { ConnectFlags } from '../connection.ts';

type Flags = ConnectFlags & { json?: unknown };

const actions = { list, export: exportAll };

export function registerAudit(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'audit <action>', 'The audit trail of your organisation', {
    list: 'Show the newest hundred entries',
    export: 'Export all entries of the last year, one JSON object per line',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--json', 'list: print JSON')
    .example('stak audit export > audit.ndjson')
    .action((action: string, flags: Flags) => runAction('audit', actions, action, flags));
}

async function list(flags: Flags): Promise<void> {
  const { connect, printJson, printTable } = await loadConnection();
  const { client } = await connect(flags);
  const { data } = await client.accounts.listAudit({ limit: 100 });
  if (flags.json) return printJson(data.data);
  const rows = data.data.map(one => [
    one.at,
    one.action,
    one.by ?? one.via,
    one.target ?? '',
    one.detail ?? '',
  ]);
  printTable([['at', 'action', 'by', 'target', 'detail'], ...rows], 'Nothing has been done yet');
}

async function exportAll(flags: Flags): Promise<void> {
  const { connect } = await loadConnection();
  const { client } = await connect(flags);
  const { data } = await client.accounts.exportAudit();
  process.stdout.write(data);
}
