import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createCertificateAuthority, createServiceAccountKeys } from './certificates.ts';

it('issues certificates that its own authority vouches for', async () => {
  const authority = await createCertificateAuthority('test authority');
  const ca = new X509Certificate(authority.certificate);
  expect(ca.ca).toBe(true);
  const issued = await authority.issue({
    commonName: 'somebody',
    organizations: ['system:masters', 'others'],
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1', '::1'],
  });
  const certificate = new X509Certificate(issued.certificate);
  expect(certificate.verify(ca.publicKey)).toBe(true);
  expect(certificate.checkIssued(ca)).toBe(true);
  expect(certificate.subject.split('\n')).toEqual(['O=system:masters', 'O=others', 'CN=somebody']);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('192.0.2.1')).toBeUndefined();
  expect(certificate.ca).toBe(false);
  expect(certificate.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
});

it('does not vouch for what another authority issued', async () => {
  const [one, other] = await Promise.all([createCertificateAuthority('one'), createCertificateAuthority('one')]);
  const issued = await one.issue({ commonName: 'somebody' });
  expect(new X509Certificate(issued.certificate).verify(new X509Certificate(other.certificate).publicKey)).toBe(false);
});

it('makes an RSA pair for ServiceAccount tokens', () => {
  const { privateKey, publicKey } = createServiceAccountKeys();
  expect(createPrivateKey(privateKey).asymmetricKeyType).toBe('rsa');
  expect(createPublicKey(privateKey).equals(createPublicKey(publicKey))).toBe(true);
});
