import { describe, expect, it } from 'vitest';
import { certificateRequestProblem } from './certificate-request.ts';
import { exampleOf } from './examples.fixture.ts';

const { spec } = exampleOf('certificates.k8s.io/certificatesigningrequests', 1).object as unknown as {
  spec: { request: string };
};
const request = Buffer.from(spec.request, 'base64').toString();
const der = Buffer.from(request.replaceAll(/-----.*-----/g, ''), 'base64');
const pem = (bytes: Buffer, type = 'CERTIFICATE REQUEST') =>
  `-----BEGIN ${type}-----\n${bytes.toString('base64')}\n-----END ${type}-----\n`;

describe('a certificate request', () => {
  it.each([
    ['as openssl writes it', request],
    ['with lines of another length', pem(der)],
    ['after an explanation', `Certificate Request:\n    Data: …\n${request}`],
  ])('%s is one', (_name, text) => {
    expect(certificateRequestProblem(Buffer.from(text))).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a text', 'please'],
    ['DER without PEM', der.toString('latin1')],
    ['a certificate', pem(der, 'CERTIFICATE')],
    ['an end of another type', request.replace('END CERTIFICATE REQUEST', 'END CERTIFICATE')],
  ])('%s is none: the type is wrong', (_name, text) => {
    expect(certificateRequestProblem(Buffer.from(text, 'latin1'))).toBe('PEM block type must be CERTIFICATE REQUEST');
  });

  it('cut anywhere, or with more behind it, is none', () => {
    for (let length = 0; length < der.length; length += 1) {
      expect(certificateRequestProblem(Buffer.from(pem(der.subarray(0, length)))), `${length}`).toMatch(/^asn1/);
    }
    expect(certificateRequestProblem(Buffer.from(pem(Buffer.concat([der, Buffer.of(5, 0)]))))).toMatch(/^asn1/);
  });
});
