// The process that DuckDB runs in. Plain JavaScript, because it is started without loaders. It is separate from the
// server because a query can use memory and time that DuckDB does not count: then only this process ends. Its memory is
// watched from outside. Jobs run one at a time.
import { stat, writeFile } from 'node:fs/promises';
import { DuckDBInstance, DuckDBTypeId as duck } from '@duckdb/node-api';

const openInstance = ({ memory, scratch, isUntrusted }) =>
  DuckDBInstance.create(':memory:', {
    memory_limit: memory,
    threads: '1',
    temp_directory: scratch ?? '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    // The cache lists the paths of files on this machine, which callers must not see.
    enable_external_file_cache: String(!isUntrusted),
    // None of these is ever used, but their defaults would reveal a home directory.
    home_directory: '/nonexistent',
    extension_directory: '/nonexistent',
    secret_directory: '/nonexistent',
  });

let trusted; // shared by our own jobs; each untrusted job gets an instance of its own

async function work(job) {
  if (!job.isUntrusted) {
    trusted ??= await openInstance(job);
    return run(job, trusted).catch(error => runWithMore(job, trusted, error));
  }
  const instance = await openInstance(job);
  try {
    return await run(job, instance);
  } finally {
    instance.closeSync();
  }
}

// Few of our own jobs need much memory, and DuckDB keeps what it has once used.
async function runWithMore(job, instance, error) {
  const { memory, largestMemory } = job;
  if (largestMemory === undefined || !error.message.startsWith('Out of Memory Error')) throw error;
  await limitMemory(instance, largestMemory);
  try {
    return await run(job, instance);
  } finally {
    await limitMemory(instance, memory).catch(() => {}); // it still uses more
  }
}

async function limitMemory(instance, limit) {
  const connection = await instance.connect();
  await connection.run(`SET memory_limit = '${limit}'`).finally(() => connection.closeSync());
}

async function run(job, instance) {
  const connection = await instance.connect();
  try {
    for (const sql of job.prepare) await connection.run(sql).catch(failAs('preparation'));
    if (!job.sql) return { columns: [], rows: [], truncated: false };
    if (job.isUntrusted) {
      await connection.run('SET enable_external_access = false');
      await connection.run('SET lock_configuration = true');
    }
    const statement = await compile(job, connection);
    return await (job.output ? writeAnswer(job, statement) : answer(job, statement));
  } finally {
    connection.closeSync();
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
  bind(statement, job.params ?? []);
  return statement;
}

// `$1`, `$2`, … or `?`, or by name. A missing parameter is an error, not NULL.
function bind(statement, params) {
  const given = Array.isArray(params) ? params.map((_, i) => String(i + 1)) : Object.keys(params);
  const wanted = Array.from({ length: statement.parameterCount }, (_, i) => statement.parameterName(i + 1));
  for (const name of wanted) if (!given.includes(name)) throw misuse(`The parameter $${name} has no value.`);
  for (const name of given) if (!wanted.includes(name)) throw misuse(`There is no parameter $${name}.`);
  if (given.length > 0) statement.bind(params);
}

const misuse = message => Object.assign(new Error(message), { kind: 'syntax' });

const refusal = message => Object.assign(new Error(message), { kind: 'forbidden' });

const numeric = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*)$/;

async function answer({ maxRows, maxBytes }, statement) {
  const result = await statement.stream();
  const columns = result
    .deduplicatedColumnNames()
    .map((name, i) => ({ name, type: String(result.columnType(i)) }));
  const isNumber = columns.map(({ type }) => numeric.test(type));
  const rows = [];
  // A type names all fields of a structure, and a query can make a hundred thousand of them.
  let bytes = JSON.stringify(columns).length;
  if (bytes > maxBytes) throw refusalOfSize(bytes, maxBytes);
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

// A file that the server sends. It is written by an instance of our own, which the query has never seen: an untrusted
// one has no access to files, and must not learn their names.
async function writeAnswer(job, statement) {
  const { maxRows, maxBytes, output } = job;
  const result = await statement.stream();
  const names = result.deduplicatedColumnNames();
  const types = result.columnTypes();
  const sink =
    output.format === 'arrow' ? await arrowSink(names, types, output) : await duckSink(job, names, types);
  let rows = 0;
  let truncated = false;
  try {
    for await (const chunk of result) {
      if (chunk.rowCount === 0) break;
      const room = maxRows - rows;
      truncated = chunk.rowCount > room;
      if (truncated) chunk.rowCount = room;
      rows += chunk.rowCount;
      if (chunk.rowCount > 0) sink.add(chunk);
      if (truncated) break;
    }
    const bytes = await sink.finish();
    if (bytes > maxBytes) throw refusalOfSize(bytes, maxBytes);
    return { columns: [], rows: [], truncated, bytes };
  } finally {
    sink.close();
  }
}

const refusalOfSize = (bytes, most) =>
  Object.assign(new Error(`The answer has ${bytes} bytes, and may have ${most}.`), { kind: 'size' });

async function arrowSink(names, types, { path }) {
  const { createArrowWriter } = await import('./arrow-file.mjs');
  const writer = createArrowWriter(names, types);
  return {
    add: chunk => writer.add(chunk.getColumns()),
    async finish() {
      const content = writer.finish();
      await writeFile(path, content);
      return content.length;
    },
    close() {},
  };
}

const quote = (text, mark) => mark + text.replaceAll(mark, mark + mark) + mark;
const options = { csv: 'format csv, header', parquet: 'format parquet, compression zstd' };

// Types that a spreadsheet does not take for text.
const plainTypes = new Set([
  ...[duck.BOOLEAN, duck.TINYINT, duck.SMALLINT, duck.INTEGER, duck.BIGINT, duck.HUGEINT, duck.FLOAT],
  ...[duck.UTINYINT, duck.USMALLINT, duck.UINTEGER, duck.UBIGINT, duck.UHUGEINT, duck.DOUBLE, duck.DECIMAL],
  ...[duck.DATE, duck.TIME, duck.TIME_TZ, duck.TIMESTAMP, duck.TIMESTAMP_TZ, duck.INTERVAL, duck.UUID],
  ...[duck.TIMESTAMP_S, duck.TIMESTAMP_MS, duck.TIMESTAMP_NS],
]);

// Text that looks like a formula begins with `'`, as in every CSV of ours. A column's name may, too.
const formula = String.raw`^[\s\p{Z}]*[=+\-@|%＝＋－＠]|^[\t\r\n]`;
const safeCell = (name, { typeId }) => {
  const cell = quote(name, '"');
  const title = quote(new RegExp(formula, 'u').test(name) ? `'${name}` : name, '"');
  if (plainTypes.has(typeId)) return `${cell} as ${title}`;
  const text = `${cell}::varchar`;
  return `case when regexp_matches(${text}, '${formula}') then '''' || ${text} else ${text} end as ${title}`;
};

async function duckSink({ memory, scratch, output: { path, format } }, names, types) {
  const instance = await openInstance({ memory, scratch, isUntrusted: false });
  const connection = await instance.connect();
  const columns = names.map((name, i) => `${quote(name, '"')} ${types[i]}`);
  await connection.run(`create table answer (${columns.join(', ')})`);
  const appender = await connection.createAppender('answer');
  return {
    add: chunk => appender.appendDataChunk(chunk),
    async finish() {
      appender.closeSync();
      const cells = format === 'csv' ? names.map((name, i) => safeCell(name, types[i])) : ['*'];
      await connection.run(
        `copy (select ${cells.join(', ')} from answer) to ${quote(path, "'")} (${options[format]})`,
      );
      return (await stat(path)).size;
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

// Whole numbers arrive as text, because some are larger than a double can hold. The others become numbers.
function toNumber(value) {
  const number = Number(value);
  return value === null || (Number.isInteger(number) && !Number.isSafeInteger(number)) ? value : number;
}

// DuckDB repeats values and names of a query in its messages, however long they are.
const messageChars = 2000;

process.on('message', async job => {
  try {
    process.send({ answer: await work(job) });
  } catch (error) {
    const message = String(error.message ?? error)
      .slice(0, messageChars)
      .toWellFormed();
    process.send({ error: { kind: error.kind, message } });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
