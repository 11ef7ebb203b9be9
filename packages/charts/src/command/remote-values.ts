import type { Terminal } from '@slipway/kube/command';

import { bytesToText } from '../go/bytes.ts';
import { Downloads, expectOk, openServers } from '../repository/download.ts';
import { mostValueBytes } from '../values/read-values-file.ts';

/** The text of a file with values that a web server has. */
export async function readRemoteValues(address: string, { env, signal }: Terminal): Promise<string> {
  await using downloads = new Downloads(openServers(env));
  const answer = await downloads.get(new URL(address), { maxBytes: mostValueBytes }, signal);
  expectOk(answer, 'values');
  return bytesToText(answer.body);
}
