import { connect, createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';

import { beforeAll, describe, expect, test } from 'vitest';

import { inspectCertificate, isIssuedBy, isKeyOf, splitBundle } from './inspect.ts';
import { type CertificatePair, issueCa, issueLeaf } from './issue.ts';

const now = new Date();
const validity = { notBeforeMs: now.getTime() - 60_000, notAfterMs: now.getTime() + 3_600_000 };

describe('certificates', () => {
  let ca: CertificatePair;
  let leaf: CertificatePair;

  beforeAll(async () => {
    ca = await issueCa({ commonName: 'test ca', ...validity });
    leaf = await issueLeaf({
      ca,
      commonName: 'web',
      dnsNames: ['localhost', 'web.default.svc'],
      ipAddresses: ['127.0.0.1'],
      ...validity,
      notAfterMs: validity.notAfterMs + 1_000_000,
    });
  });

  test('a CA says that it is one', () => {
    expect(inspectCertificate(ca.certificate)).toMatchObject({
      subject: 'CN=test ca',
      isCa: true,
      key: { type: 'ec' },
    });
    expect(isKeyOf(ca.privateKey, ca.certificate)).toBe(true);
  });

  test('a leaf bears its names and ends with its CA at the latest', () => {
    const info = inspectCertificate(leaf.certificate);
    expect(info).toMatchObject({ isCa: false, dnsNames: ['localhost', 'web.default.svc'], ipAddresses: ['127.0.0.1'] });
    expect(info.notAfterMs).toBe(inspectCertificate(ca.certificate).notAfterMs);
    expect(isIssuedBy(leaf.certificate, ca.certificate)).toBe(true);
    expect(isKeyOf(leaf.privateKey, ca.certificate)).toBe(false);
  });

  test('a CA of the same name with another key did not issue the leaf', async () => {
    const other = await issueCa({ commonName: 'test ca', ...validity });
    expect(isIssuedBy(leaf.certificate, other.certificate)).toBe(false);
  });

  test('a TLS client that trusts the CA accepts the leaf', async () => {
    const server = createServer({ cert: leaf.certificate, key: leaf.privateKey });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const authorized = await new Promise<boolean>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: ca.certificate }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.on('error', reject);
    });
    server.close();
    expect(authorized).toBe(true);
  });

  test('RSA keys can be written as PKCS#1', async () => {
    const key = { type: 'rsa', bits: 2048 } as const;
    const pair = await issueCa({ commonName: 'rsa ca', key, keyEncoding: 'traditional', ...validity });
    expect(pair.privateKey).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/);
    expect(inspectCertificate(pair.certificate).key).toEqual({ type: 'rsa', bits: 2048 });
    const signed = await issueLeaf({ ca: pair, commonName: 'x', dnsNames: ['x'], key, ...validity });
    expect(isIssuedBy(signed.certificate, pair.certificate)).toBe(true);
  });

  test('a bundle is split into its certificates', () => {
    expect(
      splitBundle(`# one\n${ca.certificate}\n${leaf.certificate}`).map((pem) => inspectCertificate(pem).subject),
    ).toEqual(['CN=test ca', 'CN=web']);
  });

  test('text that is no certificate is an error that does not repeat it', () => {
    expect(() => inspectCertificate(ca.privateKey)).toThrow(/^not a PEM certificate$/);
  });

  test('a foreign CA key and an empty validity are refused', async () => {
    await expect(
      issueLeaf({ ca: { ...ca, privateKey: leaf.privateKey }, commonName: 'x', ...validity }),
    ).rejects.toThrow('the private key of the CA does not belong to its certificate');
    await expect(issueCa({ commonName: 'x', notBeforeMs: 2, notAfterMs: 1 })).rejects.toThrow(/certificate 'x'/);
  });
});
