import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlOf } from '../src/text/curl.ts';

// Runs the command in a shell, with a fake curl that prints its arguments and input.
const run = (command: string): string[] =>
  execFileSync('sh', [
    '-c',
    `curl() { printf '%s\\036' "$@"; case "$*" in *@-*) od -An -tx1;; esac; }\n${command}`,
  ])
    .toString()
    .split('\x1e');

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a request as a curl command', () => {
  it('survives a shell unchanged, with any characters', () => {
    const body = `{"it's": "$HOME \`ls\` \\\\ \\n ü"}\n@file`;
    const command = curlOf({
      method: 'PUT',
      url: "https://hooks.example/in/src_1?a='b'&c=%20",
      headers: [
        ['Content-Type', 'application/json'],
        ['Host', 'hooks.example'],
        ['X-Quote', `"it's"`],
        ['X-Empty', ''],
      ],
      body: bytes(body),
    });
    expect(run(command).slice(0, -1)).toEqual([
      '-X',
      'PUT',
      "https://hooks.example/in/src_1?a='b'&c=%20",
      '-H',
      'Content-Type: application/json',
      '-H',
      `X-Quote: "it's"`,
      '-H',
      'X-Empty;',
      '--data-raw',
      body,
    ]);
  });

  it('pipes binary bodies', () => {
    const body = Uint8Array.from([0, 255, 39, 10]);
    const printed = run(curlOf({ method: 'POST', url: 'http://x', headers: [], body }));
    expect(printed.at(-1)?.trim()).toBe('00 ff 27 0a');
  });

  it('has no body if the request has none', () => {
    const command = curlOf({ method: 'GET', url: 'http://x', headers: [], body: bytes('') });
    expect(command).toBe("curl -X GET 'http://x'");
  });
});
