// Runs a customer's script in a thread of the sandbox. The interpreter is WebAssembly: a script has access to its own heap
// and its argument, and to nothing of Node.
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from 'quickjs-emscripten';

// Runs before the script and keeps references to JSON's functions, so that a script cannot change how its result is read.
// Only strings come out: the host never reads an object that a script made.
const harness = `(() => {
  'use strict';
  const { parse, stringify } = JSON;
  const { hasOwn } = Object;
  const print = value => {
    const text = stringify(value);
    return text === undefined ? 'null' : text;
  };
  return {
    open: text => parse(text),
    close: output => {
      if (output === null || output === undefined) return 'dropped';
      if (typeof output !== 'object' || !(hasOwn(output, 'body') || hasOwn(output, 'bodyBase64'))) return 'invalid';
      const { body, bodyBase64, headers } = output;
      const isBinary = (body === null || body === undefined) && typeof bodyBase64 === 'string';
      return {
        kind: isBinary ? 'base64' : typeof body === 'string' ? 'text' : 'json',
        body: isBinary ? bodyBase64 : typeof body === 'string' ? body : print(body),
        headers: headers === undefined ? '' : print(headers),
      };
    },
  };
})()`;

// The interpreter's own limit checks single allocations only, so a thousand small buffers pass it. The maximum of the
// WebAssembly memory cannot be passed.
const memoryBytes = 48 * 1024 * 1024; // the interpreter starts with 16 MB of it; 256 KB of JSON takes about 5
const stackBytes = 256 * 1024; // well inside the interpreter's own stack of a few megabytes
const messageChars = 500; // of an error thrown by a script
const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: memoryBytes / 65_536 });
const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }));

// The memory grows and never shrinks, so a thread that ran a greedy script is replaced.
export function isSpent() {
  return wasmMemory.buffer.byteLength > memoryBytes / 2;
}

export function run({ code, head, body, text, outputChars }, isOver) {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(memoryBytes);
  runtime.setMaxStackSize(stackBytes);
  runtime.setInterruptHandler(isOver);
  const context = runtime.newContext();
  const held = [];
  const hold = handle => {
    held.push(handle);
    return handle;
  };
  const call = (owner, name, argument) =>
    unwrap(context.callFunction(hold(context.getProp(owner, name)), context.undefined, argument));
  const unwrap = result => {
    if (result.error) throw new ScriptError(describe(context, hold(result.error)));
    return hold(result.value);
  };
  try {
    const tools = unwrap(context.evalCode(harness, 'harness.js'));
    const input = call(
      tools,
      'open',
      hold(context.newString(`${head.slice(0, -1)},${body ?? printText(text)}}`)),
    );
    const script = context.evalCode(code, 'transform.js');
    if (script.error) return classify(describe(context, hold(script.error)), 'invalid');
    hold(script.value);
    const transform = context.evalCode('transform', 'transform.js');
    if (transform.error) hold(transform.error);
    if (transform.error || context.typeof(hold(transform.value)) !== 'function')
      return fail('invalid', 'The script defines no function named transform');
    const returned = unwrap(context.callFunction(transform.value, context.undefined, input));
    const settled = settle(runtime, context, returned, hold, isOver);
    if (settled === undefined) return fail('never_settles', 'The promise is never settled');
    return read(context, call(tools, 'close', settled), hold, outputChars);
  } catch (error) {
    if (error instanceof ScriptError) return classify(error.thrown, 'threw');
    throw error;
  } finally {
    for (const handle of held.reverse()) if (handle.alive) handle.dispose();
    context.dispose();
    runtime.dispose();
  }
}

// JSON is passed on as received: serialising it again would recurse as deep as the sender nested it.
function printText(text) {
  try {
    JSON.parse(text);
    return `"body":${text}`;
  } catch {
    return `"body":${JSON.stringify(text)}`;
  }
}

class ScriptError extends Error {
  constructor(thrown) {
    super('The script threw');
    this.thrown = thrown;
  }
}

// Nothing outside can settle a promise, so without pending jobs it stays pending.
function settle(runtime, context, returned, hold, isOver) {
  while (runtime.hasPendingJob()) {
    const done = runtime.executePendingJobs(100);
    if (done.error) throw new ScriptError(describe(context, hold(done.error)));
    if (isOver()) throw new ScriptError({ name: 'InternalError', message: 'interrupted' });
  }
  const state = context.getPromiseState(returned);
  if (state.type === 'pending') return undefined;
  if (state.type === 'rejected') throw new ScriptError(describe(context, hold(state.error)));
  return state.notAPromise ? returned : hold(state.value);
}

function read(context, answer, hold, outputChars) {
  if (context.typeof(answer) === 'string') {
    return context.getString(answer) === 'dropped'
      ? { dropped: true }
      : fail('output_invalid', 'transform must return an object with a body, or null');
  }
  const texts = ['kind', 'body', 'headers'].map(name => hold(context.getProp(answer, name)));
  for (const text of texts)
    if (context.getNumber(hold(context.getProp(text, 'length'))) > outputChars)
      return fail('output_too_large', 'The answer of the script is too large');
  const [kind, body, headers] = texts.map(text => context.getString(text));
  return { kind, body, headers };
}

function classify({ name, message }, otherwise) {
  if (message === 'interrupted') return fail('time_limit', 'The script took too long');
  // Without memory to describe the failure, the thrown value is null.
  const isUnnamed = name === '' && message === '' && isSpent();
  if (message === 'out of memory' || isUnnamed)
    return fail('memory_limit', 'The script used too much memory');
  if (/stack (?:overflow|size exceeded)/.test(message))
    return fail('stack_limit', 'The script recursed too deep');
  return fail(otherwise, name === '' ? message : `${name}: ${message}`);
}

// The thrown value may have getters that throw as well. Then there is nothing to describe.
function describe(context, thrown) {
  const text = name => {
    const handle = context.getProp(thrown, name);
    const value = context.typeof(handle) === 'string' ? context.getString(handle) : '';
    handle.dispose();
    return value.slice(0, messageChars);
  };
  try {
    if (context.typeof(thrown) === 'object') return { name: text('name'), message: text('message') };
    return { name: '', message: String(context.dump(thrown)).slice(0, messageChars) };
  } catch {
    return { name: '', message: 'The script threw' };
  }
}

function fail(reason, message) {
  return { reason, message: message.slice(0, messageChars) };
}
