/**
 * Whether tests are left out, and why: a test that is skipped says nothing itself.
 *
 * @example
 * test.skipIf(skipped(onReference, 'on the real API server: needs virtual time'))('…', …);
 */
export function skipped(when: boolean, why: string): boolean {
  if (when) process.stdout.write(`skipped ${why}\n`);
  return when;
}
