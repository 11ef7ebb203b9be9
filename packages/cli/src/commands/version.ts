import { yamlText } from '@slipway/kube';

import { NoConnection } from '../connect-command.ts';
import { slipwayCommand, type SlipwayContext } from '../slipway-command.ts';
import { textOutputFlag } from '../text-output.ts';

const versionFlags = {
  client: { type: 'boolean', summary: 'only of this command; asks no server', perCall: true },
  output: textOutputFlag,
} as const;

/** `slipway version`: of this command and of the server. Without a kubeconfig there is no server to ask. */
export const command = slipwayCommand({
  connection: true,
  flags: versionFlags,
  examples: [{ line: 'slipway version' }, { line: 'slipway version --client -o json' }],
  async run(context) {
    const { terminal, version, flags } = context;
    const versions: Versions = { clientVersion: version, nodeVersion: process.version };
    try {
      if (!flags.client) versions.serverVersion = await serverVersion(context);
    } catch (error) {
      terminal.out(format(versions, flags.output));
      throw error;
    }
    terminal.out(format(versions, flags.output));
  },
});

interface Versions {
  clientVersion: string;
  nodeVersion: string;
  serverVersion?: string | undefined;
}

async function serverVersion({ connect, terminal }: SlipwayContext): Promise<string | undefined> {
  try {
    await using cluster = await connect();
    return (await cluster.client.serverVersion({ signal: terminal.signal })).gitVersion;
  } catch (error) {
    if (error instanceof NoConnection && error.isAbsent) return undefined;
    throw error;
  }
}

function format(versions: Versions, output: 'text' | 'json' | 'yaml'): string {
  if (output === 'json') return `${JSON.stringify(versions, undefined, 2)}\n`;
  if (output === 'yaml') return yamlText(versions);
  const { clientVersion, nodeVersion, serverVersion: server } = versions;
  const client = `Client Version: ${clientVersion} (Node ${nodeVersion})\n`;
  return server === undefined ? client : `${client}Server Version: ${server}\n`;
}
