import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubectlSteps } from './kubectl-steps.ts';
import { runCommand } from './run-command.ts';

export interface Spoken {
  readonly label: string;
  readonly code: number | null;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What kubectl says to every step, without what differs from run to run. */
export async function kubectlTranscript(kubectl: string, kubeconfig: string): Promise<Spoken[]> {
  const home = await mkdtemp(join(tmpdir(), 'slipway-kubectl-'));
  try {
    const path = join(home, 'kubeconfig');
    await writeFile(path, kubeconfig, { mode: 0o600 });
    const spoken: Spoken[] = [];
    for (const { label, args, stdin, env, until, codeOnly } of kubectlSteps) {
      const named = args.map((arg) => (arg.startsWith('--schedule=') ? arg.replaceAll('_', ' ') : arg));
      const { code, stdout, stderr } = await runCommand(kubectl, ['-n', 'work', ...named], {
        env: { KUBECONFIG: path, HOME: home, ...env },
        cwd: home,
        ...(stdin === undefined ? {} : { stdin }),
        ...(until ? { until } : {}),
      });
      spoken.push({
        label,
        code: until ? 0 : code,
        ...(codeOnly ? {} : { stdout: plain(stdout), stderr: plain(stderr) }),
      });
    }
    return spoken;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function plain(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replaceAll(/resourceVersion: "\d+"/g, 'resourceVersion: "R"')
    .replaceAll(/\bweb-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g, 'web-HASH-XXXXX')
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, 'SERVER')
    .replaceAll(/\/\S*kubectl-edit-\S+/g, 'FILE')
    .replaceAll(/\b\d+(?:m\d+)?s\b/g, 'AGE')
    .replaceAll(/ {2,}/g, '  ')
    .replaceAll(/ +$/gm, '');
}
