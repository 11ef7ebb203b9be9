import { Secret, type Client } from '@slipway/kube';

import { argo } from '../../argo/words.ts';
import type { GitCredentials } from '../../git/credentials.ts';
import { names } from '../../names.ts';
import { readSecret } from '../../state/records.ts';

/**
 * Who to be for a repository: as Argo CD's Secrets say, one for the very repository or one for all that begin alike. The Git server of
 * the platform itself is known from its own credentials.
 */
export async function credentialsFor(
  client: Client,
  url: string,
  ownRepository: string,
  signal: AbortSignal,
): Promise<GitCredentials | undefined> {
  let best: { readonly fit: number; readonly credentials: GitCredentials } | undefined;
  const labelSelector = `${argo.secretType} in (repository,repo-creds)`;
  for await (const { metadata, data = {} } of client.list(Secret, {
    namespace: names.argoNamespace,
    labelSelector,
    signal,
  })) {
    const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
    const prefix = comparable(text('url'));
    const isWhole = metadata.labels?.[argo.secretType] === 'repository';
    const fits = isWhole ? comparable(url) === prefix : covers(prefix, comparable(url));
    if (!fits || prefix === '' || text('password') === '') continue;
    const fit = isWhole ? Number.POSITIVE_INFINITY : prefix.length;
    if (best === undefined || fit > best.fit)
      best = { fit, credentials: { username: text('username') || 'git', password: text('password') } };
  }
  if (best) return best.credentials;
  if (new URL(url).origin !== new URL(ownRepository).origin) return undefined;
  const own = { namespace: names.operatorNamespace, name: names.gitCredentials };
  const { GIT_USERNAME: username, GIT_PASSWORD: password } = await readSecret(client, own);
  return username && password ? { username, password } : undefined;
}

/** `https://git.example.com/team` is for `…/team/shop`, not for `…/teams` nor for `git.example.com.evil.net`. */
function covers(prefix: string, url: string): boolean {
  return url === prefix || url.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}

function comparable(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '').replace(/\.git$/, '') : '';
}
