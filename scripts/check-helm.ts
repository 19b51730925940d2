// Renders the Helm chart as every kind of installation, looks at what comes out, and validates it by the OpenAPI
// document of Kubernetes: npm run check:helm
// helm is found in PATH or built with Go, and the document is in Kubernetes' Go module. What could not be had is named.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { parseAllDocuments } from 'yaml';

const helmVersion = 'v3.22.0';
const kubernetesVersion = 'v1.34.0';
const built = join(tmpdir(), `stak-helm-${helmVersion}`); // kept between runs: it takes minutes to build
const chart = join(import.meta.dirname, '../deploy/helm/stak');
const needed = ['publicUrl=https://stak.example.com', 'existingSecret=my-secret'];

type Resource = { apiVersion: string; kind: string; metadata: { name: string }; spec: Fields };
// biome-ignore lint/suspicious/noExplicitAny: each kind has a shape of its own, and an assertion names it.
type Fields = any;
type FindResource = (kind: string) => Resource;
type Case = { name: string; values?: string[]; kinds: string[]; check(rendered: FindResource): void };

const onAws = ['Deployment', 'Service', 'Service', 'ServiceAccount'];
const cases: Case[] = [
  {
    name: 'on DynamoDB',
    kinds: [...onAws, 'PodDisruptionBudget'],
    check(rendered) {
      const { spec } = rendered('Deployment');
      assert.equal(spec.replicas, 2);
      checkPod(spec, { STAK_STORE: 'aws', STAK_AWS_REGION: 'eu-central-1' });
      const budget = rendered('PodDisruptionBudget').spec;
      assert.equal(budget.maxUnavailable, 1);
      assert.deepEqual(budget.selector, spec.selector);
    },
  },
  {
    name: 'on DynamoDB, with everything',
    values: [
      'autoscaling.enabled=true',
      'autoscaling.maxReplicas=7',
      'ingress.enabled=true',
      'metrics.serviceMonitor.enabled=true',
      'metrics.serviceMonitor.tokenKey=STAK_METRICS_TOKEN',
    ],
    kinds: [...onAws, 'PodDisruptionBudget', 'HorizontalPodAutoscaler', 'Ingress', 'ServiceMonitor'],
    check(rendered) {
      const deployment = rendered('Deployment');
      assert.equal(deployment.spec.replicas, undefined, 'the autoscaler counts the servers');
      const { scaleTargetRef, minReplicas, maxReplicas } = rendered('HorizontalPodAutoscaler').spec;
      assert.deepEqual(scaleTargetRef, {
        apiVersion: deployment.apiVersion,
        kind: 'Deployment',
        name: deployment.metadata.name,
      });
      assert.deepEqual([minReplicas, maxReplicas], [2, 7]);
      assert.deepEqual(rendered('ServiceMonitor').spec.endpoints, [
        {
          port: 'metrics',
          path: '/metrics',
          interval: '30s',
          authorization: { credentials: { name: 'my-secret', key: 'STAK_METRICS_TOKEN' } },
        },
      ]);
    },
  },
  {
    name: 'on a disk',
    values: ['store.kind=embedded', 'replicas=3', 'metrics.serviceMonitor.enabled=true'],
    kinds: ['StatefulSet', 'Service', 'Service', 'ServiceAccount', 'ServiceMonitor'],
    check(rendered) {
      const { spec } = rendered('StatefulSet');
      assert.equal(spec.replicas, 1, 'one server owns the disk');
      assert.equal(spec.volumeClaimTemplates[0].spec.resources.requests.storage, '20Gi');
      checkPod(spec, { STAK_STORE: 'embedded' });
      assert.equal(rendered('ServiceMonitor').spec.endpoints[0].authorization, undefined);
    },
  },
];

function checkPod({ selector, template }: Fields, variables: Record<string, string>): void {
  for (const [label, value] of Object.entries(selector.matchLabels))
    assert.equal(template.metadata.labels[label], value, 'the pod has the labels by which it is found');
  const [container] = template.spec.containers;
  const paths = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
    probe => `${probe.httpGet.port} ${probe.httpGet.path}`,
  );
  assert.deepEqual(paths, ['http /readyz', 'http /readyz', 'http /healthz']);
  assert.deepEqual(container.envFrom, [{ secretRef: { name: 'my-secret' } }]);
  const env = Object.fromEntries(container.env.map((variable: Fields) => [variable.name, variable.value]));
  const everywhere = { STAK_PUBLIC_URL: 'https://stak.example.com', STAK_METRICS_ADDRESS: '0.0.0.0:9100' };
  for (const [name, value] of Object.entries({ ...everywhere, ...variables })) assert.equal(env[name], value);
  assert(template.spec.terminationGracePeriodSeconds > Number(env.STAK_DRAIN_SECONDS) + 25);
}

const helm = findHelm();
if (helm === undefined)
  console.log('Skipped: helm is not installed, and Go could not build it. The chart was not rendered.');
else checkChart(helm);

function findHelm(): string | undefined {
  const own = join(built, 'helm');
  if (spawnSync('helm', ['version']).status === 0) return 'helm';
  if (existsSync(own)) return own;
  const env = { ...process.env, GOBIN: built };
  const install = ['install', `helm.sh/helm/v3/cmd/helm@${helmVersion}`];
  return spawnSync('go', install, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
    ? own
    : undefined;
}

function checkChart(helm: string): void {
  const flags = (values: readonly string[]) => values.flatMap(value => ['--set', value]);
  execFileSync(helm, ['lint', '--strict', chart, ...flags(needed)], { stdio: 'inherit' });
  const validate = openValidation();
  for (const { name, values = [], kinds, check } of cases) {
    const args = ['template', 'stak', chart, ...flags([...needed, ...values])];
    const output = execFileSync(helm, args, { encoding: 'utf8' });
    const resources = parseAllDocuments(output)
      .map(document => document.toJS() as Resource | null)
      .filter(resource => resource !== null);
    assert.deepEqual(resources.map(({ kind }) => kind).toSorted(), kinds.toSorted(), name);
    check(kind => resources.find(resource => resource.kind === kind)!);
    const unknown = validate ? resources.filter(resource => !validate(resource)).map(({ kind }) => kind) : [];
    console.log(`${name}: rendered${validate ? ' and valid' : ''}`);
    if (unknown.length > 0) console.log(`Skipped: Kubernetes' document has no ${unknown.join(', ')}.`);
  }
  assert.notEqual(
    spawnSync(helm, ['template', 'stak', chart]).status,
    0,
    'a public URL and a Secret are needed',
  );
}

// Throws for a resource that Kubernetes would refuse or not know a field of; false for a kind of somebody else's.
function openValidation(): ((resource: Resource) => boolean) | undefined {
  const wanted = ['mod', 'download', '-json', `k8s.io/kubernetes@${kubernetesVersion}`];
  const { status, stdout } = spawnSync('go', wanted, { encoding: 'utf8', cwd: tmpdir() });
  if (status !== 0) {
    console.log("Skipped: Go could not load Kubernetes' OpenAPI document. Nothing was validated by it.");
    return undefined;
  }
  const { Dir } = JSON.parse(stdout) as { Dir: string };
  const text = readFileSync(join(Dir, 'api/openapi-spec/swagger.json'), 'utf8');
  const { definitions } = JSON.parse(text) as { definitions: Record<string, Fields> };
  const ofKind = new Map<string, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    if (definition.properties) definition.additionalProperties = false;
    if (definition.format === 'int-or-string') definition.type = ['integer', 'string'];
    if (name.endsWith('.Quantity')) definition.type = ['number', 'string'];
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? [])
      ofKind.set(`${group ? `${group}/` : ''}${version} ${kind}`, name);
  }
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'kubernetes', definitions });
  const validate = (resource: Resource): boolean => {
    const { apiVersion, kind } = resource;
    const name = ofKind.get(`${apiVersion} ${kind}`);
    if (name === undefined) return false;
    const valid = ajv.getSchema(`kubernetes#/definitions/${name}`) as ValidateFunction;
    if (!valid(resource)) throw new Error(`${kind}: ${ajv.errorsText(valid.errors)}`);
    return true;
  };
  // A check that finds nothing wrong with anything would be no proof.
  const broken = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { prots: [] } };
  assert.throws(() => validate(broken), /additional properties/);
  return validate;
}
