import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Headers with the body's HMAC-SHA256 in hexadecimal digits: Gitea and Gogs as it is, GitHub and newer Gitea after `sha256=`. */
const signatures = ['x-hub-signature-256', 'x-gitea-signature', 'x-gogs-signature'] as const;
/** GitLab sends the secret itself. */
const token = 'x-gitlab-token';

/** Whether a push was announced by somebody who knows the secret. */
export function isSignedWith(secret: string, headers: IncomingHttpHeaders, body: Uint8Array): boolean {
  const given = headers[token];
  if (typeof given === 'string') return isSame(given, secret);
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  const signature = signatures.map((name) => headers[name]).find((value) => typeof value === 'string');
  return typeof signature === 'string' && isSame(signature.replace(/^sha256=/, '').toLowerCase(), expected);
}

/** In the same time for every wrong value, whatever its length. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
