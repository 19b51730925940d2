import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';

const isAddress = (host: string): boolean => /^[\d.]+$|^\[/.test(host);

// Browsers create passkeys for host names only, and only over HTTPS or on localhost.
export const canUsePasskeys = (): boolean =>
  'PublicKeyCredential' in window && !isAddress(window.location.hostname);

// The console's address at localhost, if the page was opened by IP address.
export const nameOfThisMachine = (): string | undefined => {
  const { hostname, port, protocol } = window.location;
  if (hostname !== '127.0.0.1' && hostname !== '[::1]') return undefined;
  return `${protocol}//localhost${port === '' ? '' : `:${port}`}/console/`;
};

// Plain words for the errors that browsers report.
const words: Readonly<Record<string, string>> = {
  NotAllowedError: 'The passkey was not used. Try again when you have it at hand.',
  InvalidStateError: 'This device has a passkey of your account already.',
  AbortError: 'The passkey was not used.',
};

const inWords = (error: unknown): never => {
  const { name, message } = error as Error;
  throw new Error(words[name] ?? message, { cause: error });
};

// As the API expects it: a plain object instead of the browser's type.
const asPlain = <A extends { clientExtensionResults: object }>({ clientExtensionResults, ...answer }: A) => ({
  ...answer,
  clientExtensionResults: { ...clientExtensionResults } as Record<string, unknown>,
});

// Loaded when a passkey is used for the first time.
const load = () => import('@simplewebauthn/browser');

export async function createPasskey(options: object) {
  const { startRegistration } = await load();
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON;
  return asPlain(await startRegistration({ optionsJSON }).catch(inWords));
}

export async function showPasskey(options: object) {
  const { startAuthentication } = await load();
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON;
  return asPlain(await startAuthentication({ optionsJSON }).catch(inWords));
}
