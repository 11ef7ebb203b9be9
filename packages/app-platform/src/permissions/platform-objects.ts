import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { loadHelmfile } from '@slipway/charts';
import { CommandError, systemClock, systemRandom, type KubeObject } from '@slipway/kube';
import { parseManifests, type ObjectUse } from '@slipway/manifests';

import { definitionsOf } from '../install/apply-crds.ts';
import { declaredOperations } from '../platform/declared-upgrades.ts';
import { initHelmfile, releaseHelmfiles } from '../platform/helmfile.ts';
import { createCustomCA } from '../secrets/custom-ca.ts';
import { generateSecrets } from '../secrets/generate-secrets.ts';
import { getKmsValues } from '../secrets/kms-values.ts';
import { getUsers } from '../secrets/users.ts';
import { ValuesLayers } from '../values/layers.ts';
import { sampleFile, type PlatformRoot } from '../values/platform-root.ts';
import { saveValues } from '../values/save.ts';
import { secretRules } from '../values/secret-paths.ts';
import { merge, type Tree } from '../values/tree.ts';

/** Everything a platform can bring to a cluster. */
export interface PlatformObjects {
  /** What everything else lives in: applied, never removed. */
  readonly essential: readonly KubeObject[];
  /** In the `crds` of charts: applied, never removed. */
  readonly definitions: readonly KubeObject[];
  /** Of all releases, those that are switched off among them: installed, kept and removed. Hooks are among them. */
  readonly releases: readonly KubeObject[];
  /** What its runtime upgrades do. */
  readonly upgrades: readonly ObjectUse[];
}

/** Renders all releases of a platform under its defaults and sample values. A chart that no release renders is an error: nobody could say what it brings. */
export async function platformObjects(root: PlatformRoot): Promise<PlatformObjects> {
  const values = await sampleValues(root);
  const rendered = new Set<string>();
  const definitions = await definitionsOf(root);
  const objectsOf = async (path: string): Promise<KubeObject[]> => {
    await using helmfile = await loadHelmfile({ cwd: root.directory, path, values });
    const objects: KubeObject[] = [];
    for (const release of helmfile.releases) {
      rendered.add(basename(release.chart));
      const { manifests, hooks, crds } = await helmfile.renderRelease(release);
      definitions.push(...objectsIn(crds));
      objects.push(...objectsIn([...manifests, ...hooks]));
    }
    return objects;
  };
  const essential = await objectsOf(initHelmfile);
  const releases = await objectsOf(releaseHelmfiles);
  const left = (await chartsOf(root)).filter((chart) => !rendered.has(chart));
  if (left.length > 0) {
    throw new CommandError(`no release renders charts/${left.join(', charts/')}`, {
      hint: `let ${sampleFile} of the platform hold what brings them, such as a team with an app, or remove them`,
    });
  }
  return { essential, definitions, releases, upgrades: await upgradeUses(root) };
}

function objectsIn(files: readonly { readonly content: string; readonly path: string }[]): KubeObject[] {
  return files.flatMap(({ content, path }) => parseManifests(content, { source: path }));
}

async function upgradeUses(root: PlatformRoot): Promise<ObjectUse[]> {
  return (await declaredOperations(root)).map(({ action, apiVersion, kind, name }) => ({
    objects: [{ apiVersion, kind, metadata: {} }],
    verbs: [...(name === undefined ? ['list'] : []), action === 'delete' ? 'delete' : 'patch'],
  }));
}

/** The values of a platform that has what the sample says, and the secrets an installation would have made. */
async function sampleValues(root: PlatformRoot): Promise<Tree> {
  const sample = await root.sample();
  const made = merge(
    await createCustomCA(sample, systemClock),
    generateSecrets(secretRules(await root.schema()), sample),
    await getKmsValues(sample),
  );
  const tree = { ...merge(sample, made), users: getUsers(sample, systemRandom) };
  const directory = await mkdtemp(join(tmpdir(), 'slipway-sample-'));
  try {
    await saveValues({ directory, tree, secretPaths: [], encrypted: false });
    return await new ValuesLayers(root, directory).values('all');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function chartsOf(root: PlatformRoot): Promise<string[]> {
  const entries = await readdir(root.path('charts'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
