import { createHash } from 'node:crypto';

/** `name` itself where it is short enough; otherwise its beginning and a digest of the whole, so that different names stay different. */
export function fittedName(name: string, maxLength: number): string {
  if (name.length <= maxLength) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, maxLength - digest.length - 1)}-${digest}`;
}
