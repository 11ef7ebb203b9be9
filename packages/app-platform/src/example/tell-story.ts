import { ConfigMap, sleep, systemClock, type Client } from '@slipway/kube';

import { names } from '../names.ts';
import { recordPlaces } from '../state/records.ts';

const everyMs = 250;

/** Says every step of the installation and every apply, as the records on the cluster tell them. */
export async function tellStory(client: Client, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  const said = new Map<string, string>();
  while (!signal.aborted) {
    for (const { namespace, name } of Object.values(recordPlaces)) {
      const { data = {} } = (await client.get(ConfigMap, { namespace, name }, { signal })) ?? {};
      const line = lineOf(name, data);
      if (line === undefined || said.get(name) === line) continue;
      said.set(name, line);
      say(line);
    }
    await sleep(systemClock, everyMs, signal).catch(() => undefined);
  }
}

function lineOf(name: string, data: Readonly<Record<string, string>>): string | undefined {
  const { status, attempt, error, version, deployingVersion, commitHash = '', trigger, errorMessage } = data;
  if (status === undefined) return undefined;
  switch (name) {
    case names.installationStatus:
      return `installation  ${status}, attempt ${attempt}${error === undefined ? '' : `\n${error}`}`;
    case names.deploymentStatus:
      return `deployment    ${status} ${status === 'deploying' ? (deployingVersion ?? '') : (version ?? '')}`;
    default:
      return `apply         ${status}, ${trigger} of ${commitHash.slice(0, 7)}${errorMessage === undefined ? '' : `\n${errorMessage}`}`;
  }
}
