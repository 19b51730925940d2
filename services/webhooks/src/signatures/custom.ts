import type { HeaderPair } from '../filters/request-view.ts';
import {
  createMac,
  type HmacConfig,
  isStale,
  judge,
  readHeader,
  readTimestamp,
  refuse,
  type Verifier,
} from './signing.ts';

// GitHub's scheme under a neutral name, which is what most senders use.
const defaultHmac: HmacConfig = {
  algorithm: 'sha256',
  header: 'x-signature',
  encoding: 'hex',
};

const namedAlgorithms = { 'hmac-sha1': 'sha1', 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const;
type AlgorithmName = keyof typeof namedAlgorithms;
export const algorithmNames = Object.keys(namedAlgorithms) as AlgorithmName[];

// A name stands for the default scheme with that algorithm. It is stored as it is, anything else as JSON.
type SigningAlgorithm = AlgorithmName | HmacConfig;

export const writeSigningAlgorithm = (given: SigningAlgorithm): string =>
  typeof given === 'string' ? given : JSON.stringify(given);

export const readSigningAlgorithm = (stored: string): SigningAlgorithm =>
  algorithmNames.find(name => name === stored) ?? (JSON.parse(stored) as HmacConfig);

export function readHmacConfig(stored: string | undefined): HmacConfig {
  if (stored === undefined) return defaultHmac;
  const given = readSigningAlgorithm(stored);
  return typeof given === 'string' ? { ...defaultHmac, algorithm: namedAlgorithms[given] } : given;
}

export const verifyCustom: Verifier = input => {
  const { secrets, headers, rawBody, nowMs, toleranceS, config = defaultHmac } = input;
  const { algorithm, encoding, prefix = '' } = config;
  const header = readHeader(headers, config.header.toLowerCase());
  const timestamp = config.timestampHeader && readHeader(headers, config.timestampHeader.toLowerCase());
  const id = config.idHeader && readHeader(headers, config.idHeader.toLowerCase());
  if (!header || (config.timestampHeader && !timestamp) || (config.idHeader && !id))
    return refuse('missing_signature');
  const timestampS = timestamp ? readTimestamp(timestamp) : undefined;
  if (!header.startsWith(prefix) || (timestamp && timestampS === undefined))
    return refuse('malformed_signature');

  const parts = fillTemplate(config, { body: rawBody, timestamp: timestamp ?? '', id: id ?? '' });
  const given = header.slice(prefix.length);
  const keys = secrets.map(secret => readKey(secret, config)).filter(key => key.length > 0);
  const expected = keys.map(key => createMac(algorithm, key, parts, encoding));
  const verdict = judge([encoding === 'hex' ? given.toLowerCase() : given], expected, id);
  return verdict.ok && timestampS !== undefined && isStale(timestampS, nowMs, toleranceS)
    ? refuse('stale')
    : verdict;
};

type Unsigned = {
  secret: string;
  id: string;
  timestampS: number;
  body: Uint8Array;
  config?: HmacConfig | undefined;
};

// The headers that `verifyCustom` accepts. Undefined if the secret does not have the encoding of the config.
export function signCustom(request: Unsigned): HeaderPair[] | undefined {
  const { secret, id, timestampS, body, config = defaultHmac } = request;
  const key = readKey(secret, config);
  if (key.length === 0) return undefined;
  const timestamp = String(timestampS);
  const mac = createMac(
    config.algorithm,
    key,
    fillTemplate(config, { body, timestamp, id }),
    config.encoding,
  );
  return [
    [config.header, (config.prefix ?? '') + mac],
    ...(config.timestampHeader ? [[config.timestampHeader, timestamp] as const] : []),
    ...(config.idHeader ? [[config.idHeader, id] as const] : []),
  ];
}

export function templateOf({ template, timestampHeader }: HmacConfig): string {
  return template ?? (timestampHeader ? '{timestamp}.{body}' : '{body}');
}

// Buffer stops at the first invalid character, which would leave a key of a few bytes, or none.
function readKey(secret: string, { secretEncoding = 'utf8' }: HmacConfig): Uint8Array {
  const shapes = { utf8: /^/, hex: /^(?:[0-9a-f]{2})+$/i, base64: /^[A-Za-z0-9+/]+=*$/ };
  return shapes[secretEncoding].test(secret) ? Buffer.from(secret, secretEncoding) : Buffer.alloc(0);
}

type Values = { body: Uint8Array; timestamp: string; id: string };

// The body stays bytes: decoding it into a string could change it.
function fillTemplate(config: HmacConfig, values: Values): (string | Uint8Array)[] {
  return templateOf(config)
    .split(/(\{body\}|\{timestamp\}|\{id\})/)
    .map(part => {
      if (part === '{body}') return values.body;
      if (part === '{timestamp}') return values.timestamp;
      return part === '{id}' ? values.id : part;
    });
}
