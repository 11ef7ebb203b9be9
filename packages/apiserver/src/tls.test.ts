import { X509Certificate } from 'node:crypto';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { createCertificateAuthority, serverNames } from './tls.ts';
import { VirtualClock } from './virtual-clock.ts';

test('a client with our certificate is known to a server with our certificate', async () => {
  const authority = await createCertificateAuthority({ clock: new VirtualClock() });
  const server = await authority.issue({
    commonName: 'kube-apiserver',
    ...serverNames('127.0.0.1'),
    usage: 'server',
  });
  const admin = await authority.issue({
    commonName: 'kubernetes-admin',
    organizations: ['system:masters', 'ops'],
    usage: 'client',
  });
  const listener = https.createServer(
    {
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      response.end(JSON.stringify((request.socket as TLSSocket).getPeerCertificate().subject));
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = listener.address() as AddressInfo;
    const subject = await new Promise<unknown>((resolve, reject) => {
      https
        .get(
          { host: '127.0.0.1', port, ca: authority.certificate, cert: admin.certificate, key: admin.key, agent: false },
          (response) => {
            let text = '';
            response.on('data', (chunk: Buffer) => (text += chunk.toString()));
            response.on('end', () => resolve(JSON.parse(text)));
          },
        )
        .on('error', reject);
    });
    expect(subject).toEqual({ O: ['system:masters', 'ops'], CN: 'kubernetes-admin' });
  } finally {
    listener.close();
  }
});

test('certificates name their hosts, their purpose and their issuer', async () => {
  const clock = new VirtualClock();
  const authority = await createCertificateAuthority({ clock });
  const issued = await authority.issue({ commonName: 'x', ...serverNames('db.local'), usage: 'server', validDays: 10 });
  const certificate = new X509Certificate(issued.certificate);
  const ca = new X509Certificate(authority.certificate);
  expect(certificate.checkIssued(ca)).toBe(true);
  expect(certificate.verify(ca.publicKey)).toBe(true);
  expect(certificate.checkHost('db.local')).toBe('db.local');
  expect(certificate.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(certificate.ca).toBe(false);
  expect(ca.ca).toBe(true);
  expect(Date.parse(certificate.validTo)).toBe(clock.now() + 10 * 86_400_000);
});
