// The process that DuckDB runs in. Plain JavaScript, because it is started without loaders. It is apart from the
// server because a query can take memory and time that DuckDB does not count: then this process ends, and nothing
// else. How much memory it holds is watched from outside. Jobs come one at a time.
import { DuckDBInstance } from '@duckdb/node-api';

const openInstance = ({ memory, scratch, isUntrusted }) =>
  DuckDBInstance.create(':memory:', {
    memory_limit: memory,
    threads: '1',
    temp_directory: scratch ?? '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    // What was read is listed there, by its path on this machine: ours to know.
    enable_external_file_cache: String(!isUntrusted),
    // None of these is ever used, but their defaults would reveal a home directory.
    home_directory: '/nonexistent',
    extension_directory: '/nonexistent',
    secret_directory: '/nonexistent',
  });

let trusted; // shared by our own jobs; each untrusted job gets an instance of its own

async function work(job) {
  if (!job.isUntrusted) trusted ??= await openInstance(job);
  const instance = job.isUntrusted ? await openInstance(job) : trusted;
  const connection = await instance.connect();
  try {
    for (const sql of job.prepare) await connection.run(sql).catch(failAs('preparation'));
    if (!job.sql) return { columns: [], rows: [], truncated: false };
    if (job.isUntrusted) {
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
    }
    return await answer(job, await compile(job, connection));
  } finally {
    connection.closeSync();
    if (job.isUntrusted) instance.closeSync();
  }
}

const failAs = kind => error => {
  throw Object.assign(error, { kind });
};

const select = 1;

async function compile(job, connection) {
  const statements = await connection.extractStatements(job.sql).catch(failAs('syntax'));
  if (statements.count !== 1) throw refusal('One statement at a time.');
  const statement = await statements.prepare(0);
  if (statement.statementType !== select) throw refusal('Only SELECT is allowed here.');
  return statement;
}

const refusal = message => Object.assign(new Error(message), { kind: 'forbidden' });

const numeric = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*)$/;

async function answer({ maxRows, maxBytes }, statement) {
  const result = await statement.stream();
  const columns = result
    .deduplicatedColumnNames()
    .map((name, i) => ({ name, type: String(result.columnType(i)) }));
  const isNumber = columns.map(({ type }) => numeric.test(type));
  const rows = [];
  let bytes = 0;
  for await (const page of result.yieldRowsJson()) {
    for (const row of page) {
      const shown = row.map((value, i) => (isNumber[i] ? toNumber(value) : value));
      bytes += JSON.stringify(shown).length;
      if (rows.length === maxRows || bytes > maxBytes) return { columns, rows, truncated: true };
      rows.push(shown);
    }
  }
  return { columns, rows, truncated: false };
}

// Whole numbers come as text, because some of them are larger than a double can hold. The others become numbers.
function toNumber(value) {
  const number = Number(value);
  return value === null || (Number.isInteger(number) && !Number.isSafeInteger(number)) ? value : number;
}

process.on('message', async job => {
  try {
    process.send({ answer: await work(job) });
  } catch (error) {
    process.send({ error: { kind: error.kind, message: String(error.message ?? error) } });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
