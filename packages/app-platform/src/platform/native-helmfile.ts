import {
  HelmfileCache,
  loadHelmfile,
  manifestText,
  RenderCache,
  toPlain,
  uninstallRelease,
  upgradeRelease,
  writeYaml,
  type Helmfile as LoadedHelmfile,
} from '@slipway/charts';
import { Secret, type Client, type Clock } from '@slipway/kube';

import type { ValuesLayers } from '../values/layers.ts';
import type { PlatformRoot } from '../values/platform-root.ts';
import type { Tree } from '../values/tree.ts';
import { releaseHelmfiles, type Helmfile, type HelmfileSelection } from './helmfile.ts';

export interface NativeHelmfileOptions {
  readonly root: PlatformRoot;
  readonly layers: ValuesLayers;
  readonly client: Client;
  readonly clock: Clock;
  /** Kept from round to round, it saves what did not change. Default: nothing is kept. */
  readonly caches?: HelmfileCaches;
}

/** What is remembered of helmfiles and charts, by the hash of everything it was made from. */
export class HelmfileCaches {
  readonly states = new HelmfileCache();
  readonly renders = new RenderCache();
}

/** As long as a release may take. */
const releaseTimeoutMs = 1_200_000;

/** The helmfiles of a platform over the values of its repository, in this process. One of them serves one round. */
export function nativeHelmfile(options: NativeHelmfileOptions): Helmfile {
  const { root, layers, client, clock, caches = new HelmfileCaches() } = options;
  const loaded = new Map<string, { readonly values: Tree; readonly helmfile: LoadedHelmfile }>();
  /** A list and the values of its releases come from the same files: they are loaded once, as long as the values stay. */
  const load = async ({ file = releaseHelmfiles, selectors = [] }: HelmfileSelection = {}): Promise<LoadedHelmfile> => {
    const values = await layers.values('all');
    const id = JSON.stringify([file, selectors]);
    const known = loaded.get(id);
    if (known?.values === values) return known.helmfile;
    const helmfile = await loadHelmfile({
      cwd: root.directory,
      path: file,
      values,
      cache: caches.states,
      renders: caches.renders,
      ...(selectors.length > 0 ? { selectors } : {}),
    });
    loaded.set(id, { values, helmfile });
    return helmfile;
  };
  return {
    list: async (selection) => (await load(selection)).listReleases(),

    async writeValues(selection) {
      const helmfile = await load(selection);
      const wanted = helmfile.releases.filter(({ installed, enabled }) => installed && enabled);
      return new Map(
        wanted.map((release) => [`${release.namespace}-${release.name}`, writeYaml(helmfile.valuesOf(release))]),
      );
    },

    async template(selection) {
      const helmfile = await load(selection);
      const texts: string[] = [];
      for (const release of helmfile.releases) {
        if (release.installed && release.enabled) texts.push(manifestText(await helmfile.renderRelease(release)));
      }
      return texts.join('');
    },

    async sync({ signal, ...selection }) {
      const helmfile = await load(selection);
      const context = { client, clock, ...(signal ? { signal } : {}) };
      // One after the other, in the order of the files.
      for (const release of helmfile.releases) {
        const { name, namespace, installed, enabled } = release;
        if (!enabled) continue;
        await dropPending(client, namespace, name);
        if (!installed) {
          await uninstallRelease(context, { name, namespace, ignoreNotFound: true });
          continue;
        }
        await upgradeRelease(context, await helmfile.chartOf(release), {
          name,
          namespace,
          values: toPlain(helmfile.chartValuesOf(release)) as Record<string, unknown>,
          install: true,
          createNamespace: true,
          valuesFrom: 'reuse',
          wait: true,
          timeoutMs: releaseTimeoutMs,
          historyMax: 3,
          // They were applied before, by themselves.
          skipCrds: true,
        });
      }
    },
  };
}

/**
 * Removes the record of work that a process which is gone had begun. Others would have to wait until it counts as abandoned; we hold
 * the lease, so nobody is working on it.
 */
async function dropPending(client: Client, namespace: string, name: string): Promise<void> {
  const labelSelector = `owner=helm,name=${name},status in (pending-install,pending-upgrade,pending-rollback)`;
  for await (const { metadata } of client.list(Secret, { namespace, labelSelector })) {
    await client.delete(Secret, { namespace, name: metadata.name! });
  }
}
