// Renders the Helm chart as both kinds of installation and looks at what comes out: npm run check:helm
// Without helm this says so and succeeds; kubeconform validates the output as well where there is one.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

const chart = join(import.meta.dirname, '../deploy/helm/stak');
const needed = ['--set', 'publicUrl=https://stak.example.com', '--set', 'existingSecret=stak'];
const everything = ['autoscaling.enabled', 'ingress.enabled', 'metrics.serviceMonitor.enabled'].flatMap(
  name => ['--set', `${name}=true`],
);
const cases: [name: string, flags: string[], kinds: string[]][] = [
  ['on DynamoDB', needed, ['Deployment', 'PodDisruptionBudget', 'Service', 'ServiceAccount']],
  ['with everything', [...needed, ...everything], ['HorizontalPodAutoscaler', 'Ingress', 'ServiceMonitor']],
  ['on a disk', [...needed, '--set', 'store.kind=embedded'], ['StatefulSet', 'Service']],
];

const isThere = (program: string): boolean => spawnSync(program, ['version']).error === undefined;

if (!isThere('helm')) console.log('Skipped: helm is not installed, and the chart was not rendered.');
else {
  execFileSync('helm', ['lint', '--strict', chart, ...needed], { stdio: 'inherit' });
  for (const [name, flags, kinds] of cases) {
    const output = execFileSync('helm', ['template', 'stak', chart, ...flags], { encoding: 'utf8' });
    const missing = kinds.filter(kind => !output.includes(`kind: ${kind}\n`));
    if (missing.length > 0) throw new Error(`${name}: there is no ${missing.join(', ')}`);
    if (isThere('kubeconform'))
      execFileSync('kubeconform', ['-strict', '-ignore-missing-schemas'], {
        input: output,
        stdio: ['pipe', 2, 2],
      });
    console.log(`${name}: rendered`);
  }
  const refused = spawnSync('helm', ['template', 'stak', chart]);
  if (refused.status === 0) throw new Error('without a public URL and a Secret it is rendered all the same');
}
