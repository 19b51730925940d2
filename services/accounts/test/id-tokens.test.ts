import {
  decodeJwt,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from './service-stub.ts';
import { openSocial, type Social } from './social-stub.ts';

const text = (value: string) => new TextEncoder().encode(value);
const now = () => Math.floor(Date.now() / 1000);

// A real OpenID provider whose ID tokens are replaced on the way. It says of itself that it signs with anything.
describe('an ID token', () => {
  let social: Social;
  let people = 0;
  beforeAll(async () => {
    social = await openSocial();
  });
  afterAll(() => social.close());

  type Sign = (claims: JWTPayload) => string | Promise<string>;
  const signInWith = async (sign: Sign): Promise<Response> => {
    social.google.forgery.forge = async answer => {
      if (typeof answer.id_token === 'string')
        return { ...answer, id_token: await sign(decodeJwt(answer.id_token)) };
      return {
        ...answer,
        id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256', 'PS256', 'ES256'],
      };
    };
    return social.signIn('google', social.meet.google(`victim-${++people}@example.com`));
  };
  const signed = (claims: JWTPayload, { alg = 'RS256', kid = 'test' }: { alg?: string; kid?: string } = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid });
  const byProvider =
    (change: (claims: JWTPayload) => JWTPayload): Sign =>
    claims =>
      signed(change(claims)).sign(social.google.privateKey);
  const clientId = 'google-client';

  it('signs in if the provider signed it for us', async () => {
    expect((await signInWith(byProvider(claims => claims))).status).toBe(302);
    expect((await signInWith(byProvider(claims => ({ ...claims, azp: clientId })))).status).toBe(302);
    const several = byProvider(claims => ({ ...claims, aud: [clientId, 'another'], azp: clientId }));
    expect((await signInWith(several)).status).toBe(302);
  });

  const forgeries: Record<string, Sign> = {
    'without a signature': claims => new UnsecuredJWT(claims).encode(),
    'that says "NONE"': claims =>
      `${Buffer.from('{"alg":"NONE","kid":"test"}').toString('base64url')}.${new UnsecuredJWT(claims).encode().split('.')[1]}.`,
    'signed with the client secret': claims =>
      signed(claims, { alg: 'HS256' }).sign(text(social.google.client.clientSecret)),
    'signed with the public key as a secret, as PEM': async claims =>
      signed(claims, { alg: 'HS256' }).sign(text(await exportSPKI(social.google.publicKey))),
    'signed with the public key as a secret, as a JWK': async claims =>
      signed(claims, { alg: 'HS256' }).sign(text(JSON.stringify(await exportJWK(social.google.publicKey)))),
    'signed with a foreign key': async claims =>
      signed(claims).sign((await generateKeyPair('RS256')).privateKey),
    'signed with a foreign key that it carries': async claims => {
      const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
      const jwk = await exportJWK(publicKey);
      return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'test', jwk }).sign(privateKey);
    },
    'signed with a foreign key of another kind': async claims =>
      signed(claims, { alg: 'ES256' }).sign((await generateKeyPair('ES256')).privateKey),
    'whose key is not among the provider’s': claims =>
      signed(claims, { kid: 'unknown' }).sign(social.google.privateKey),
    'changed after it was signed': async claims => {
      const [header, , signature] = (await signed(claims).sign(social.google.privateKey)).split('.');
      const payload = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody else' })).toString('base64url');
      return `${header}.${payload}.${signature}`;
    },
    'whose signature was cut off': async claims =>
      (await signed(claims).sign(social.google.privateKey)).replace(/[^.]*$/, ''),
    'of another issuer': byProvider(claims => ({ ...claims, iss: 'https://accounts.google.com' })),
    'without an issuer': byProvider(({ iss: _, ...claims }) => claims),
    'for another client': byProvider(claims => ({ ...claims, aud: 'another' })),
    'for several clients, without saying which': byProvider(claims => ({
      ...claims,
      aud: [clientId, 'another'],
    })),
    'for several clients, issued to another': byProvider(claims => ({
      ...claims,
      aud: [clientId, 'another'],
      azp: 'another',
    })),
    'for us, issued to another client': byProvider(claims => ({ ...claims, azp: 'another' })),
    'with another nonce': byProvider(claims => ({ ...claims, nonce: 'another' })),
    'without a nonce': byProvider(({ nonce: _, ...claims }) => claims),
    'that has expired': byProvider(claims => ({ ...claims, iat: now() - 7200, exp: now() - 3600 })),
    'that never expires': byProvider(({ exp: _, ...claims }) => claims),
    'that is not valid yet': byProvider(claims => ({ ...claims, nbf: now() + 3600, exp: now() + 7200 })),
    'without a subject': byProvider(({ sub: _, ...claims }) => claims),
  };
  it.each(Object.entries(forgeries))('%s is refused', async (_, sign) => {
    expect(await problemOf(await signInWith(sign))).toEqual([502, 'accounts.provider_failed']);
  });
});
