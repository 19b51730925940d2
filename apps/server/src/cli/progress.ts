// Progress of a long task on one line of a terminal. Elsewhere only its end is reported.
export type Progress = { step(): void; end(): void };

export function showProgress(
  what: string,
  total: number,
  output: NodeJS.WriteStream = process.stderr,
): Progress {
  const startMs = performance.now();
  let done = 0;
  const draw = () => output.isTTY && output.write(`\r${what}: ${done} of ${total}`);
  return {
    step() {
      done += 1;
      draw();
    },
    end() {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      output.write(`${output.isTTY ? '\r' : ''}${what}: ${done} of ${total} in ${seconds} s\n`);
    },
  };
}
