// Finds with AWS's own validator what CloudFormation would refuse in the template that `stak aws template` prints:
//   npm run check:aws
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate';

const main = join(import.meta.dirname, '../apps/server/src/main.ts');
const folder = mkdtempSync(join(tmpdir(), 'stak-template-'));
const file = join(folder, 'stak.json');
const validator = new RegoEngine();

const print = (...options: string[]): string =>
  execFileSync(process.execPath, ['--import', 'tsx', main, 'aws', 'template', ...options], {
    encoding: 'utf8',
  });

function findings(text: string): string[] {
  writeFileSync(file, text);
  const { diagnostics } = validator.validateStandard(new TemplateFile(file), { severityLevel: 'WARN' });
  return diagnostics.map(({ ruleId, message, entity }) => `${ruleId} ${entity?.logicalId ?? ''}: ${message}`);
}

try {
  const templates = ['small', 'medium', 'large', 'huge'].map(size => print('--size', size));
  templates.push(
    print('--streams', 'lambda', '--secret', 'STAK_SMTP_URL'),
    print('--prefix', 'dev-', '--env', 'STAK_BEDROCK_REGION=us-east-1', '--secret', 'STAK_SMTP_URL'),
  );
  const complaints = templates.flatMap(findings);
  // A validator that finds nothing in anything would be no proof.
  if (findings(templates[0]!.replaceAll('KeySchema', 'KeyScheme')).length === 0)
    complaints.push('a broken template passes');
  for (const complaint of complaints) console.log(complaint);
  console.log(`${templates.length} templates, ${complaints.length} findings`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
} finally {
  validator.free();
  rmSync(folder, { recursive: true });
}
