import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// Amazon's DynamoDB Local, fetched with Maven.

const version = '3.1.0';
// Kept between runs: it is 50 MB.
const folder = join(tmpdir(), `stak-dynamodb-local-${version}`);
const mainClass = 'software.amazon.dynamodb.services.local.main.ServerRunner';
const startMs = 30_000;

export async function whatDynamoDbLocalLacks(): Promise<string | undefined> {
  for (const tool of ['java', 'mvn'])
    if (spawnSync(tool, ['-version'], { stdio: 'ignore' }).status !== 0) return `there is no ${tool}`;
  if (existsSync(join(folder, 'lib'))) return undefined;
  return (await fetchJars()) ? undefined : 'Maven cannot reach software.amazon.dynamodb:DynamoDBLocal';
}

async function fetchJars(): Promise<boolean> {
  console.log(`Fetching DynamoDB Local ${version} with Maven…`);
  const scratch = await mkdtemp(join(tmpdir(), 'stak-maven-'));
  await writeFile(join(scratch, 'pom.xml'), project());
  const target = join(scratch, 'lib');
  const args = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${target}`];
  const { status } = spawnSync('mvn', args, { cwd: scratch, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0 && existsSync(target)) {
    await cp(target, join(folder, 'lib'), { recursive: true });
  }
  await rm(scratch, { recursive: true, force: true });
  return status === 0;
}

function project(): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>stak</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>software.amazon.dynamodb</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`;
}

export async function startDynamoDbLocal(): Promise<{ endpoint: string; stop(): void }> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const lib = join(folder, 'lib');
  const jars = (await readdir(lib)).filter(file => file.endsWith('.jar')).map(file => join(lib, file));
  const args = [`-Djava.library.path=${lib}`, '-cp', jars.join(delimiter), mainClass];
  const server = spawn('java', [...args, '-inMemory', '-disableTelemetry', '-port', String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = () => server.kill('SIGKILL');
  for (const deadline = Date.now() + startMs; Date.now() < deadline; await sleep(200)) {
    if (server.exitCode !== null) throw new Error(`DynamoDB Local ended with code ${server.exitCode}`);
    // It answers a request without a signature with 400, which is an answer.
    if (await fetch(endpoint).catch(() => undefined)) return { endpoint, stop };
  }
  stop();
  throw new Error('DynamoDB Local did not start');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
