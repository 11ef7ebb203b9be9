/** Why bytes are no certificate request as `openssl req` writes it: PEM around PKCS #10; `undefined` when they look like one. */
export function certificateRequestProblem(bytes: Buffer): string | undefined {
  const pem = /-----BEGIN ([^\n-]+)-----\r?\n([A-Za-z0-9+/=\r\n]*)-----END \1-----/.exec(bytes.toString('latin1'));
  if (pem?.[1] !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  return isRequest(Buffer.from(pem[2]!, 'base64')) ? undefined : 'asn1: structure error';
}

const sequence = 0x30;
const integer = 0x02;
const bitString = 0x03;

/** Its outer shape only: what is asked for and by whom is for the signer to read. */
function isRequest(der: Buffer): boolean {
  const [whole, ...after] = elements(der) ?? [];
  if (whole?.tag !== sequence || after.length > 0) return false;
  const [info, algorithm, signature, ...more] = elements(whole.content) ?? [];
  if (info?.tag !== sequence || algorithm?.tag !== sequence || signature?.tag !== bitString || more.length > 0)
    return false;
  const [version, subject, key] = elements(info.content) ?? [];
  return version?.tag === integer && subject?.tag === sequence && key?.tag === sequence;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** The elements that lie side by side in DER; `undefined` when it is torn. */
function elements(der: Buffer): Element[] | undefined {
  const found: Element[] = [];
  let at = 0;
  while (at < der.length) {
    const tag = der[at]!;
    const first = der[at + 1] ?? 0x80;
    const lengthBytes = first < 0x80 ? 0 : first - 0x80;
    if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > der.length) return undefined;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    if (start + length > der.length) return undefined;
    found.push({ tag, content: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
