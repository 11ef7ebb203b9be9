import type { PlainAnswer } from './http-server.ts';

/** Passes when it returns; fails with what it throws. */
export type HealthCheck = () => void | Promise<void>;

/** One line per check, the failing ones with their reason: what probes read and people too. */
export async function runChecks(checks: ReadonlyMap<string, HealthCheck>, title: string): Promise<PlainAnswer> {
  const lines: string[] = [];
  let failed = false;
  for (const [name, check] of checks) {
    try {
      await check();
      lines.push(`[+]${name} ok`);
    } catch (error) {
      failed = true;
      lines.push(`[-]${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  lines.push(`${title} check ${failed ? 'failed' : 'passed'}`);
  return { status: failed ? 500 : 200, body: `${lines.join('\n')}\n` };
}

/** Answers `/healthz`, `/readyz` and, for a single check, `/healthz/<name>` and `/readyz/<name>`. */
export async function answerProbe(
  path: string,
  probes: { healthz: ReadonlyMap<string, HealthCheck>; readyz: () => ReadonlyMap<string, HealthCheck> },
): Promise<PlainAnswer> {
  const [, probe = '', ...rest] = path.split('/');
  if (probe !== 'healthz' && probe !== 'readyz') return { status: 404, body: 'try /healthz or /readyz\n' };
  const checks = probe === 'healthz' ? probes.healthz : probes.readyz();
  const only = decoded(rest.join('/'));
  if (only === '') return runChecks(checks, probe);
  const check = checks.get(only);
  if (!check) return { status: 404, body: `no check is called '${only}'\n` };
  return runChecks(new Map([[only, check]]), probe);
}

/** What cannot be decoded names no check, as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
